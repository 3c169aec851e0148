import { getSignatureDecision, listImageSignatures } from "../../../../api/gen/registry.ts";
import { query } from "../../../../api/queries.ts";

/** The signatures of an image or index; `asOf`: as of that time, RFC 3339. */
export function signaturesQuery(repoUid: string, digest: string, asOf: string | undefined) {
  return query(listImageSignatures, { repoUid, digest, ...(asOf !== undefined && { asOf }) });
}

/** What the policies say of a pull of the image now. */
export function decisionQuery(repoUid: string, digest: string) {
  return query(getSignatureDecision, { repoUid, digest });
}
