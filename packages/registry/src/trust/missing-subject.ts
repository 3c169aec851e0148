/** Why a signature of the bytes of a manifest is not verified before that is pushed; then it is verified again. */
export const NOT_HELD = "the manifest that it has signed is not held here";
