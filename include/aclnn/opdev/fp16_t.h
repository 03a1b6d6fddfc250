#ifndef ACL_EMU_ACLNN_OPDEV_FP16_T_H
#define ACL_EMU_ACLNN_OPDEV_FP16_T_H

#include <cstdint>
#include <cstring>

namespace op {

/* A half-precision number as programs hold it on the host: two bytes, made from a float by rounding to nearest even. */
struct fp16_t {
    uint16_t val;

    fp16_t() : val(0) {}
    fp16_t(float value) : val(fromFloat(value)) {}
    fp16_t(double value) : val(fromFloat(static_cast<float>(value))) {}
    fp16_t(int value) : val(fromFloat(static_cast<float>(value))) {}

    operator float() const { return toFloat(); }

    float toFloat() const
    {
        const uint32_t sign = static_cast<uint32_t>(val & 0x8000U) << 16;
        const uint32_t exponent = (val >> 10) & 0x1FU;
        const uint32_t fraction = val & 0x3FFU;
        if (exponent == 0) {
            const float magnitude = static_cast<float>(fraction) / 16777216.0F;
            return sign ? -magnitude : magnitude;
        }
        const uint32_t widened = exponent == 31U ? 255U : exponent + 112U;
        const uint32_t bits = sign | (widened << 23) | (fraction << 13);
        float result;
        std::memcpy(&result, &bits, sizeof result);
        return result;
    }

private:
    static uint16_t fromFloat(float value)
    {
        uint32_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000U);
        const uint32_t magnitude = bits & 0x7FFFFFFFU;
        if (magnitude > 0x7F800000U) {
            return static_cast<uint16_t>(sign | 0x7E00U);
        }
        if (magnitude >= 0x477FF000U) {
            return static_cast<uint16_t>(sign | 0x7C00U);
        }
        if (magnitude < 0x33000001U) {
            return sign;
        }
        const uint32_t exponent = magnitude >> 23;
        const uint32_t drop = exponent < 113U ? 126U - exponent : 13U;
        const uint32_t kept = exponent < 113U ? ((magnitude & 0x7FFFFFU) | 0x800000U) : magnitude - 0x38000000U;
        const uint32_t half = kept >> drop;
        const uint32_t rest = kept & ((1U << drop) - 1U);
        const uint32_t tie = 1U << (drop - 1U);
        const uint32_t up = rest > tie || (rest == tie && (half & 1U)) ? 1U : 0U;
        return static_cast<uint16_t>(sign | (half + up));
    }
};

} // namespace op

#endif /* ACL_EMU_ACLNN_OPDEV_FP16_T_H */
