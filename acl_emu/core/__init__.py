"""What everything stands on: data types, formats, status codes, chips, handles, and the hooks by which tools observe."""
