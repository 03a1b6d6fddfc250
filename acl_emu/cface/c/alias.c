/* A library without functions of its own: see ALIAS in acl_emu/cface/build.py. */
extern int acl_emu_alias;
int acl_emu_alias;
