"""Forms of PTX instructions on scalars, packed scalars and memory: facts of the table of TVM 0.27, one row each.

A row is `name | slots | operands`. The family is the longest name of an instruction that the name begins with.

| slot          | is                                                               |
|---------------|------------------------------------------------------------------|
| `type=u32|s32`| one of these modifiers must be written                           |
| `rnd?=rn|rz`  | one of them may be                                               |
| `ftz?`        | the modifier of this name may be; capitals stand for `GROUPS`     |

| operand       | is                                                               |
|---------------|------------------------------------------------------------------|
| `a`           | a register of the type that the slot `type` says                 |
| `a:u32`       | of this type, or of the type that the slot of this name says     |
| `>d`          | a destination                                                    |
| `d*2`, `d*vec`| that many registers, or as many as the slot says (`v4`)          |
| `c:u64?cache` | an operand that is there if the slot has a modifier              |
| `d_`          | registers that may be `T.ptx.SINK`                               |
| `d~`, `d!`    | a register that may be wider, or of another kind; of another kind |
| `p:addr`      | an address; `ptr`: a pointer as a value, `imm`: a constant        |
| `-`           | there is none                                                    |

`tests/e2e/test_ptx_forms.py` compares them, and `rules`, with a TVM.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from refmlc.lang.ops.intrinsics.device import PTX_FAMILIES

GROUPS = {
    "CMP": "eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan",
    "CMPF": "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan",
    "HALFSRC": "b16|b32|b64|u16|u32|u64|s16|s32|s64|f16|f32|f64|bf16|f16x2|bf16x2",
    "MEMORY": "b8|u8|s8|b16|u16|s16|b32|u32|s32|b64|u64|s64|f32|f64",
    "BASIC": "b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64",
    "WIDE256": "b32|u32|s32|f32|b64|u64|s64|f64",
    "SCALAR": "u8|u16|u32|u64|s8|s16|s32|s64|bf16|f16|f32|f64",
    "SHIFT": "b16|b32|b64|u16|u32|u64|s16|s32|s64",
    "INT": "u16|u32|u64|s16|s32|s64",
    "HALF": "f16|f16x2|bf16|bf16x2",
    "RND": "rn|rz|rm|rp",
    "EVICT": "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate",
    "EVICT2": "L2::evict_first|L2::evict_last|L2::evict_normal",
    "LOADED": "weak|acquire|relaxed|volatile",
    "STORED": "weak|release|relaxed|volatile",
    "REACH": "cta|cluster|gpu|sys",
    "SPACE": "global|shared|shared::cta|shared::cluster|local",
    "SPACES": "const|global|local|shared|shared::cta|shared::cluster|param|param::entry",
    "NARROW": "e4m3x2|e5m2x2|e2m1x2|e2m3x2|e3m2x2",
    "PREFETCH": "L2::64B|L2::128B|L2::256B",
    "POLICY": "L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged",
    "BITS": "b16|b32|b64",
}
ROWS = """
add_mixed_vec_up | rnd?=RND dtype=f32x2 atype=f16x2|bf16x2 ctype=f32x2 | >d:dtype a:atype c:ctype
sub_mixed_vec_up | rnd?=RND dtype=f32x2 atype=f16x2|bf16x2 ctype=f32x2 | >d:dtype a:atype c:ctype
add_mixed_vec_down_f16 | rnd=rz ftz dtype=f16x2 atype=f32x2 ctype=f32x2 | >d:dtype a:atype c:ctype
sub_mixed_vec_down_f16 | rnd=rz ftz dtype=f16x2 atype=f32x2 ctype=f32x2 | >d:dtype a:atype c:ctype
add_mixed_vec_down_bf16 | rnd=rz dtype=bf16x2 atype=f32x2 ctype=f32x2 | >d:dtype a:atype c:ctype
sub_mixed_vec_down_bf16 | rnd=rz dtype=bf16x2 atype=f32x2 ctype=f32x2 | >d:dtype a:atype c:ctype
fma_mixed_vec | rnd=RND dtype=f32x2 atype=f16x2|bf16x2 btype=f32x2 ctype=f32x2 | >d:dtype a:atype b:btype c:ctype
mul_mixed_vec_down_f16 | ftz rnd=rz dtype=f16x2 atype=f32x2 ctype=f32x2 | >d:dtype a:atype c:ctype
mul_mixed_vec_down_bf16 | rnd=rz dtype=bf16x2 atype=f32x2 ctype=f32x2 | >d:dtype a:atype c:ctype
mul_mixed_vec_bf16_f16 | dtype=bf16x2 atype=bf16x2 ctype=f16x2 | >d:dtype a:atype c:ctype
mul_mixed_vec_f16_bf16 | dtype=f16x2 atype=f16x2 ctype=bf16x2 | >d:dtype a:atype c:ctype
set_packed | cmp=eq|ne|lt|le|gt|ge|lo|ls|hi|hs type=u8x4|s8x4|u16x2|s16x2 | >d:b32 a:b32 b:b32
ld_proxy_readonly | space?=global type=MEMORY proxy=proxy::readonly | >d~ addr:addr
prefetch_valid_addr | space?=global level=L1::32B valid_addr | addr:addr
cvt_pzo_scalar_f32 | rnd=rn|rz relu? satfinite? pzo dtype=f16|bf16 atype=f32 | >d:dtype a:f32
cvt_pzo_fp16x2_f32 | rnd=rn|rz relu? satfinite? pzo dtype=f16x2|bf16x2 atype=f32 | >d:dtype a:f32 b:f32
cvt_pzo_tf32_f32 | rnd=rn|rz satfinite? relu? pzo dtype=tf32 atype=f32 | >d:tf32 a:f32
cvt_94_narrow_f32 | rnd=rn|rz satfinite relu? pzo? scaled?=scaled::n1::ue8m0 dtype=NARROW atype=f32 | >d:dtype a:f32
    b:f32 scale_factor:cvt_scale_ue8m0?scaled
cvt_94_narrow_fp16x2 | rnd=rn|rz satfinite relu? pzo? scaled?=scaled::n1::ue8m0 dtype=NARROW atype=f16x2|bf16x2 |
    >d:dtype a:atype scale_factor:cvt_scale_ue8m0?scaled
cvt_ue5m3x2_f32 | rnd=rn|rz|rp satfinite? dtype=ue5m3x2 atype=f32 | >d:ue5m3x2 a:f32 b:f32
cvt_ue5m3x2_f32_scaled | rnd=rn|rz satfinite? scaled=scaled::n1::ue8m0 dtype=ue5m3x2 atype=f32 | >d:ue5m3x2 a:f32
    b:f32 scale_factor:cvt_scale_ue8m0
cvt_ue5m3x2_fp16x2 | rnd=rn|rz|rp satfinite? dtype=ue5m3x2 atype=f16x2|bf16x2 | >d:ue5m3x2 a:atype
cvt_ue5m3x2_fp16x2_scaled | rnd=rn|rz satfinite? scaled=scaled::n1::ue8m0 dtype=ue5m3x2 atype=f16x2|bf16x2 |
    >d:ue5m3x2 a:atype scale_factor:cvt_scale_ue8m0
cvt_f16x2_ue5m3x2 | rnd=rn dtype=f16x2 atype=ue5m3x2 | >d:f16x2 a:ue5m3x2
cvt_bf16x2_ue5m3x2 | rnd=rn satfinite? scaled?=scaled::n2::ue8m0 dtype=bf16x2 atype=ue5m3x2 | >d:bf16x2 a:ue5m3x2
    scale_factor:ue8m0x2?scaled
max | ftz? nan?=NaN xorsign? abs? relu? type=f32|f64|f16|f16x2|bf16|bf16x2|u16|u32|u64|u16x2|s16|s64|s16x2|s32 | >d
    a b
min | ftz? nan?=NaN xorsign? abs? relu? type=f32|f64|f16|f16x2|bf16|bf16x2|u16|u32|u64|u16x2|s16|s64|s16x2|s32 | >d
    a b
max3 | ftz? nan?=NaN abs? type=f32 | >d a b c
min3 | ftz? nan?=NaN abs? type=f32 | >d a b c
fns | type=b32 | >d mask:b32 base:b32 offset:s32
add_int | sat? type=u16|u32|u64|u16x2|s16|s32|s64|s16x2 | >d a b
sub_int | sat? type=INT | >d a b
mul_int | mode=hi|lo type=INT | >d a b
mul_wide | mode=wide type=u16|s16|u32|s32 | >d:wide a b
mad_int | mode=hi|lo sat? type=INT | >d a b c
mad_wide | mode=wide type=u16|s16|u32|s32 | >d:wide a b c:wide
clmad | mode=hi|lo type=u64 | >d a b c
mul24 | mode=hi|lo type=u32|s32 | >d a b
mad24 | mode=hi|lo sat? type=u32|s32 | >d a b c
sad | type=INT | >d a b c
div | type=INT | >d a b
rem | type=INT | >d a b
abs | type=s16|s32|s64 | >d a
neg_int | type=s16|s32|s64 | >d a
popc | type=b32|b64 | >d:u32 a
clz | type=b32|b64 | >d:u32 a
bfind | shiftamt? type=u32|u64|s32|s64 | >d:u32 a
brev | type=b32|b64 | >d a
bfe | type=u32|u64|s32|s64 | >d a b:u32 c:u32
bfi | type=b32|b64 | >f a b c:u32 d:u32
szext | mode=clamp|wrap type=u32|s32 | >d a b:u32
bmsk | mode=clamp|wrap type=b32 | >d:b32i a:b32i b:b32i
dp4a | atype=u32|s32 btype=u32|s32 | >d:dot a:atype b:btype c:dot
dp2a | mode=lo|hi atype=u32|s32 btype=u32|s32 | >d:dot a:atype b:btype c:dot
add | rnd?=RND ftz? sat? type=f32|f64|f32x2 srctype?=f16|bf16 | >d a:srctype b
sub | rnd?=RND ftz? sat? type=f32|f64|f32x2 srctype?=f16|bf16 | >d a:srctype b
mul | rnd?=RND ftz? sat? type=f32|f64|f32x2 | >d a b
fma | rnd=RND ftz? sat? type=f32|f64|f32x2 srctype?=f16|bf16 | >d a:srctype b:srctype c
mad_f | rnd=RND ftz? sat? type=f32|f64 | >d a b c
div_f | mode=approx|full|rn|rz|rm|rp ftz? type=f32|f64 | >d a b
abs_f | ftz? type=f32|f64 | >d a
neg | ftz? type=f32|f64 | >d a
rcp | mode=approx|rn|rz|rm|rp ftz? type=f32|f64 | >d value
sqrt | mode=approx|rn|rz|rm|rp ftz? type=f32|f64 | >d value
rsqrt | mode=approx ftz? type=f32|f64 | >d value
ex2 | mode=approx ftz? type=f32 | >d value
sin | mode=approx ftz? type=f32 | >d value
cos | mode=approx ftz? type=f32 | >d value
lg2 | mode=approx ftz? type=f32 | >d value
tanh | mode=approx type=f32 | >d value
testp | op=finite|infinite|number|notanumber|normal|subnormal type=f32|f64 | >p:pred a
copysign | type=f32|f64 | >d a b
add_half | rnd?=rn ftz? sat? type=HALF | >d a b
sub_half | rnd?=rn ftz? sat? type=HALF | >d a b
mul_half | rnd?=rn ftz? sat? type=HALF | >d a b
fma_half | rnd=rn ftz? sat? oob? relu? type=HALF | >d a b c
neg_half | ftz? type=HALF | >d a
abs_half | ftz? type=HALF | >d a
tanh_half | mode=approx type=HALF | >d value
ex2_half | mode=approx ftz? type=HALF | >d value
set | cmp=CMP ftz? dtype=u32|s32|f32 stype=BASIC | >d:dtype a:stype b:stype
set_bool | cmp=CMP boolop=and|or|xor ftz? dtype=u32|s32|f32 stype=BASIC | >d:dtype a:stype b:stype c:pred
setp | cmp=CMP ftz? type=BASIC | >p:pred a b
setp_pq | cmp=CMP ftz? type=BASIC | >p:pred >q:pred a b
setp_bool | cmp=CMP boolop=and|or|xor ftz? type=BASIC | >p:pred a b c:pred
setp_bool_pq | cmp=CMP boolop=and|or|xor ftz? type=BASIC | >p:pred >q:pred a b c:pred
selp | type=BASIC | >d a b c:pred
slct | ftz? dtype=BASIC ctype=s32|f32 | >d:dtype! a:dtype! b:dtype! c:ctype
set_half | cmp=CMPF ftz? dtype=f16|bf16|u16|s16|u32|s32|f16x2|bf16x2 stype=HALFSRC | >d:dtype a:stype b:stype
set_half_bool | cmp=CMPF boolop=and|or|xor ftz? dtype=f16|bf16|u16|s16|u32|s32|f16x2|bf16x2 stype=HALFSRC | >d:dtype
    a:stype b:stype c:pred
setp_half | cmp=CMPF ftz? type=f16|bf16 | >p:pred a b
setp_half_pq | cmp=CMPF ftz? type=f16x2|bf16x2 | >p:pred >q:pred a b
setp_half_bool | cmp=CMPF boolop=and|or|xor ftz? type=f16|bf16 | >p:pred a b c:pred
setp_half_bool_pq | cmp=CMPF boolop=and|or|xor ftz? type=f16x2|bf16x2 | >p:pred >q:pred a b c:pred
and | type=pred|BITS | >d a b
or | type=pred|BITS | >d a b
xor | type=pred|BITS | >d a b
not | type=pred|BITS | >d a
cnot | type=BITS | >d a
lop3 | type=b32 | >d a b c immLut:imm
lop3_bool | boolop=or|and type=b32 | >d >p:pred a b c immLut:imm q:pred
lop3_bool_sink | boolop=or|and type=b32 | >p:pred a b c immLut:imm q:pred
shf | dir=l|r mode=clamp|wrap type=b32 | >d a b c:u32
shl | type=BITS | >d a b:u32
shr | type=SHIFT | >d a b:u32
mov_pack_b16x2 | type=b32 | >d:b32 a:b16*2
mov_unpack_b16x2 | type=b32 | >d:b16*2_ a:b32
mov_pack_b32x2 | type=b64 | >d:b64 a:b32*2
mov_unpack_b32x2 | type=b64 | >d:b32*2_ a:b64
mov_pack_b16x4 | type=b64 | >d:b64 a:b16*4
mov_unpack_b16x4 | type=b64 | >d:b16*4_ a:b64
mov_pack_b64x2 | type=b128 | >d:b128 a:b64*2
mov_unpack_b64x2 | type=b128 | >d:b64*2_ a:b128
mov_pack_b32x4 | type=b128 | >d:b128 a:b32*4
mov_unpack_b32x4 | type=b128 | >d:b32*4_ a:b128
ld | mmio? sem?=LOADED scope?=REACH space?=SPACE cop?=ca|cg|cs|lu|cv nc? l1ev?=EVICT cache?=L2::cache_hint
    prefetch?=PREFETCH type=MEMORY|b128 | >d~ addr:addr cache_policy:u64?cache
ld_vec | sem?=LOADED scope?=REACH space?=SPACE cop?=ca|cg|cs|lu|cv nc? l1ev?=EVICT cache?=L2::cache_hint
    prefetch?=PREFETCH vec=v2|v4 type=MEMORY | >d*vec~ addr:addr cache_policy:u64?cache
ld_vec256 | sem?=LOADED scope?=REACH space?=global cop?=ca|cg|cs|lu|cv nc? l1ev?=EVICT l2ev?=EVICT2
    cache?=L2::cache_hint prefetch?=PREFETCH vec=v4|v8 type=WIDE256 | >d*vec_ addr:addr cache_policy:u64?cache
st | mmio? sem?=STORED scope?=REACH space?=SPACE cop?=wb|cg|cs|wt l1ev?=EVICT cache?=L2::cache_hint type=MEMORY|b128
    | addr:addr value~ cache_policy:u64?cache
st_vec | sem?=STORED scope?=REACH space?=SPACE cop?=wb|cg|cs|wt l1ev?=EVICT cache?=L2::cache_hint vec=v2|v4
    type=MEMORY | addr:addr value*vec~ cache_policy:u64?cache
st_vec256 | sem?=STORED scope?=REACH space?=global cop?=wb|cg|cs|wt l1ev?=EVICT l2ev?=EVICT2 cache?=L2::cache_hint
    vec=v4|v8 type=WIDE256 | addr:addr value*vec_ cache_policy:u64?cache
st_bulk | weak? space?=shared::cta | addr:addr size:u32~
prefetch | space?=global|local|const|param level?=L1|L2 evict?=L2::evict_last|L2::evict_normal tensormap? |
    addr:addr
createpolicy_range | kind=range space?=global pri=POLICY sec?=L2::evict_first|L2::evict_unchanged type=b64 |
    >cache_policy:u64 addr:addr primary_size:u32 total_size:u32
createpolicy_fractional | kind=fractional pri=POLICY sec?=L2::evict_first|L2::evict_unchanged type=b64 |
    >cache_policy:u64
createpolicy_fraction | kind=fractional pri=POLICY sec?=L2::evict_first|L2::evict_unchanged type=b64 |
    >cache_policy:u64 fraction:f32
createpolicy_cvt | kind=cvt level=L2 type=b64 | >cache_policy:u64 access_property:u64
mov | type=pred|BASIC | >d a
prmt | type=b32 mode?=f4e|b4e|rc8|ecl|ecr|rc16 | >d a b c
ldu | space?=global type=MEMORY|b128 | >d~ addr:addr
ldu_vec | space?=global vec=v2|v4 type=MEMORY | >d*vec~ addr:addr
prefetchu | level=L1 | addr:addr
discard | space?=global level=L2 | addr:addr
isspacep | space=SPACES | >p:pred a:ptr
cvt_pack | sat convert=u16|s16 abtype=s32 | >d:u32 a:s32 b:s32
cvt_pack_c | sat convert=u2|s2|u4|s4|u8|s8 abtype=s32 ctype=b32 | >d:u32 a:s32 b:s32 c:b32
cvta | dir=to space=SPACES type=u64 | >d ptr:ptr
cvta_generic | space=SPACES type=u64 | >d a:u64
cvt | rnd?=rni|rzi|rmi|rpi|rn|rz|rm|rp relu? satfinite? ftz? sat? dtype=SCALAR atype=SCALAR | >d:dtype~ a:atype~
cvt_f16x2_f32 | rnd=rn|rz relu? satfinite? dtype=f16x2 atype=f32 | >d:f16x2 a:f32 b:f32
cvt_bf16x2_f32 | rnd=rn|rz relu? satfinite? dtype=bf16x2 atype=f32 | >d:bf16x2 a:f32 b:f32
cvt_tf32_f32 | rnd=rna|rn|rz satfinite? relu? dtype=tf32 atype=f32 | >d:tf32 a:f32
cvt_rs_f16x2_f32 | rnd=rs relu? satfinite? dtype=f16x2 atype=f32 | >d:f16x2 a:f32 b:f32 rbits:b32
cvt_rs_bf16x2_f32 | rnd=rs relu? satfinite? dtype=bf16x2 atype=f32 | >d:bf16x2 a:f32 b:f32 rbits:b32
cvt_ue8m0x2_f32 | rnd=rz|rp satfinite? dtype=ue8m0x2 atype=f32 | >d:ue8m0x2 a:f32 b:f32
cvt_ue8m0x2_bf16x2 | rnd=rz|rp satfinite? dtype=ue8m0x2 atype=bf16x2 | >d:ue8m0x2 a:bf16x2
cvt_bf16x2_ue8m0x2 | rnd=rn dtype=bf16x2 atype=ue8m0x2 | >d:bf16x2 a:ue8m0x2
cvt_f8x2_f32 | rnd=rn satfinite relu? dtype=e4m3x2|e5m2x2 atype=f32 | >d:dtype a:f32 b:f32
cvt_f8x2_fp16x2 | rnd=rn satfinite relu? dtype=e4m3x2|e5m2x2 atype=f16x2|bf16x2 | >d:dtype a:atype
cvt_f16x2_f8x2 | rnd=rn relu? dtype=f16x2 atype=e4m3x2|e5m2x2 | >d:f16x2 a:atype
cvt_bf16x2_f8x2 | rnd=rn relu? satfinite? scaled?=scaled::n2::ue8m0 dtype=bf16x2 atype=e4m3x2|e5m2x2 | >d:bf16x2
    a:atype scale_factor:ue8m0x2?scaled
cvt_rs_f8x4_f32 | rnd=rs relu? satfinite dtype=e4m3x4|e5m2x4 atype=f32 | >d:dtype abef:f32*4 rbits:b32
cvt_f4x2_f32 | rnd=rn satfinite relu? dtype=e2m1x2 atype=f32 | >d:e2m1x2 a:f32 b:f32
cvt_f4x2_fp16x2 | rnd=rn satfinite relu? dtype=e2m1x2 atype=f16x2|bf16x2 | >d:e2m1x2 a:atype
cvt_f16x2_f4x2 | rnd=rn relu? dtype=f16x2 atype=e2m1x2 | >d:f16x2 a:e2m1x2
cvt_bf16x2_f4x2 | rnd=rn relu? satfinite? scaled?=scaled::n2::ue8m0 dtype=bf16x2 atype=e2m1x2 | >d:bf16x2 a:e2m1x2
    scale_factor:ue8m0x2?scaled
cvt_rs_f4x4_f32 | rnd=rs relu? satfinite dtype=e2m1x4 atype=f32 | >d:e2m1x4 abef:f32*4 rbits:b32
cvt_f6x2_f32 | rnd=rn satfinite relu? dtype=e2m3x2|e3m2x2 atype=f32 | >d:dtype a:f32 b:f32
cvt_f6x2_fp16x2 | rnd=rn satfinite relu? dtype=e2m3x2|e3m2x2 atype=f16x2|bf16x2 | >d:dtype a:atype
cvt_f16x2_f6x2 | rnd=rn relu? dtype=f16x2 atype=e2m3x2|e3m2x2 | >d:f16x2 a:atype
cvt_bf16x2_f6x2 | rnd=rn relu? satfinite? scaled?=scaled::n2::ue8m0 dtype=bf16x2 atype=e2m3x2|e3m2x2 | >d:bf16x2
    a:atype scale_factor:ue8m0x2?scaled
cvt_rs_f6x4_f32 | rnd=rs relu? satfinite dtype=e2m3x4|e3m2x4 atype=f32 | >d:dtype abef:f32*4 rbits:b32
cvt_s2f6x2_f32 | rnd=rn satfinite relu? scaled?=scaled::n2::ue8m0 dtype=s2f6x2 atype=f32 | >d:s2f6x2 a:f32 b:f32
    scale_factor:ue8m0x2?scaled
cvt_s2f6x2_bf16x2 | rnd=rn satfinite relu? scaled?=scaled::n2::ue8m0 dtype=s2f6x2 atype=bf16x2 | >d:s2f6x2 a:bf16x2
    scale_factor:ue8m0x2?scaled
cvt_bf16x2_s2f6x2 | rnd=rn satfinite? relu? scaled?=scaled::n2::ue8m0 dtype=bf16x2 atype=s2f6x2 | >d:bf16x2 a:s2f6x2
    scale_factor:ue8m0x2?scaled
griddepcontrol | action=launch_dependents|wait | -
setmaxnreg | action=inc|dec sync aligned type=u32 | nreg:imm
"""


@dataclass(frozen=True, slots=True)
class ModifierSlot:
    """A place for a modifier."""

    name: str
    choices: tuple[str, ...]
    optional: bool


@dataclass(frozen=True, slots=True)
class FormOperand:
    """An operand: `registers` is a number or the slot that says it, `when` the slot on which its presence depends."""

    name: str
    kind: str
    type: str
    written: bool
    registers: int | str
    when: str
    may_sink: bool
    relaxed: str


@dataclass(frozen=True, slots=True)
class Form:
    """An instruction with the order of its modifiers and its operands."""

    name: str
    family: str
    slots: tuple[ModifierSlot, ...]
    operands: tuple[FormOperand, ...]


def _slot(text: str) -> ModifierSlot:
    name, _, choices = text.partition("=")
    plain = name.removesuffix("?")
    words = tuple(word for choice in (choices or plain).split("|") for word in GROUPS.get(choice, choice).split("|"))
    return ModifierSlot(plain, words, optional=name.endswith("?"))


def _operand(text: str) -> FormOperand:
    written, relaxed = text.startswith(">"), {"~": "wider", "!": "same"}.get(text[-1], "")
    text, _, when = text.removeprefix(">").rstrip("~!").partition("?")
    may_sink = text.endswith("_")
    text, _, registers = text.removesuffix("_").partition("*")
    name, _, kind = text.partition(":")
    special = kind in ("addr", "ptr", "imm")
    count = int(registers) if registers.isdecimal() else registers or 1
    return FormOperand(
        name, kind if special else "reg", "" if special else kind or "type", written, count, when, may_sink, relaxed
    )


def _family(name: str) -> str:
    words = (name[:3] if name in ("min3", "max3") else name).split("_")
    families = {family.removesuffix("_") for family in PTX_FAMILIES}
    return next(family for count in range(len(words), 0, -1) if (family := "_".join(words[:count])) in families)


@cache
def forms() -> Mapping[str, Form]:
    """The forms by name."""
    rows = {}
    for line in ROWS.strip().replace("\n    ", " ").split("\n"):
        name, slots, operands = (part.strip() for part in line.split(" | "))
        rows[name] = Form(
            name,
            _family(name),
            tuple(map(_slot, slots.split())),
            tuple(map(_operand, operands.removeprefix("-").split())),
        )
    return rows


@cache
def forms_of(family: str) -> tuple[Form, ...]:
    """The forms of an instruction, as PTX spells its name (`and`, not `and_`)."""
    return tuple(form for form in forms().values() if form.family == family)
