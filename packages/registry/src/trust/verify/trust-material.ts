import { TrustedRoot } from "@sigstore/protobuf-specs";
import { toTrustMaterial, type TrustMaterial } from "@sigstore/verify";

/**
 * The authorities and logs of a trusted root of Sigstore, as JSON whose size and depth were checked. Throws an Error
 * when one of them cannot be read. Source: sigstore/protobuf-specs, sigstore_trustroot.proto.
 */
export function trustMaterialOf(text: string): TrustMaterial {
  const material = toTrustMaterial(TrustedRoot.fromJSON(JSON.parse(text)));
  const { certificateAuthorities, timestampAuthorities } = material;
  for (const { certChain } of [...certificateAuthorities, ...timestampAuthorities])
    if (certChain.length === 0) throw new Error("an authority has no certificates");
  return material;
}
