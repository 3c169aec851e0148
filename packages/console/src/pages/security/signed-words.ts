import type { ListImageSignaturesResponse } from "../../api/gen/registry.ts";
import type { BadgeLook } from "../../ui/badge.tsx";

type Signed = Pick<ListImageSignaturesResponse, "signatures" | "pending" | "leftOut">;

/** What a badge says of an image's signatures. */
export interface SignedWords {
  word: string;
  look: BadgeLook;
  title: string;
}

/**
 * What is known of the signatures of an image itself, as signers verified them: signed, not by a signer, unsigned, and
 * not known are four answers. A signed attestation is not a signature of the image. `subject`: what the title calls
 * the image, such as `this version`.
 */
export function signedWords({ signatures, pending, leftOut }: Signed, subject: string): SignedWords {
  const own = signatures.filter(({ predicateType }) => predicateType === "");
  const states = own.map(({ state }) => state);
  if (states.includes("SIGNATURE_STATE_TRUSTED"))
    return { word: "Signed", look: "success", title: `A signer has signed ${subject}` };
  if (pending || states.includes("SIGNATURE_STATE_WAITING"))
    return { word: "Signature not checked yet", look: "outline", title: "Its signatures wait to be verified" };
  if (leftOut > 0)
    return { word: "Signature not known", look: "outline", title: "Not all that is attached to it was looked at" };
  if (own.length > 0)
    return {
      word: "Not signed by a signer",
      look: "warning",
      title: "Signatures are attached, and no signer made one",
    };
  return { word: "Unsigned", look: "outline", title: `No signature is attached to ${subject}` };
}
