import { TrustRootState } from "@moorage/api/messages";
import type { Database, Row } from "@moorage/kernel/store";
import type { SignerSpec, TrustedRootText } from "../verify/types.ts";
import { countingRoot } from "./copies.ts";
import { OF_SETTINGS } from "./naming.ts";
import { shortfall, thresholdsOf } from "./thresholds.ts";

/** The most trust roots of the signers of one manifest: they are handed over with it. */
const MAX_ROOTS = 64;

/**
 * The trusted roots of the signers by the names that these use. That of the settings is among them only where it comes
 * from a mirror, whose source is `tufSource`.
 */
export async function trustRootsOf(
  tx: Database,
  signers: readonly SignerSpec[],
  tufSource: string,
): Promise<Record<string, TrustedRootText>> {
  const all = [...new Set(signers.flatMap(({ keyless }) => keyless?.trustRoot ?? []))].sort();
  const names = all.slice(0, MAX_ROOTS);
  const found: Record<string, TrustedRootText> = {};
  if (names.length === 0) return found;
  const rows = await tx
    .selectFrom("trust_roots")
    .select(["uid", "trusted_root", "log_threshold", "sct_threshold", "timestamp_threshold"])
    .where("uid", "in", names)
    .execute();
  const byUid = new Map(rows.map((row) => [row.uid, row]));
  const counting = (name: string, json: string): TrustedRootText => {
    const row = byUid.get(name);
    const thresholds = row === undefined ? {} : thresholdsOf(row);
    const missing = shortfall(json, thresholds);
    return missing === undefined ? { json, thresholds } : { missing };
  };
  const copies = await tx
    .selectFrom("tuf_copies")
    .select(["trust_root", "source", "state", "message", "trusted_root"])
    .where("trust_root", "in", names)
    .execute();
  for (const copy of copies) {
    if (copy.trust_root === OF_SETTINGS && copy.source !== tufSource) continue;
    const json = countingRoot(copy);
    found[copy.trust_root] = json === "" ? { missing: whyMissing(copy) } : counting(copy.trust_root, json);
  }
  for (const { uid, trusted_root: json } of rows) if (json !== "") found[uid] = counting(uid, json);
  for (const name of all.slice(MAX_ROOTS))
    found[name] = { missing: `the signers of an image name more than ${MAX_ROOTS} trust roots` };
  for (const name of names)
    if (name !== OF_SETTINGS) found[name] ??= { missing: "the signer's trust root is not there any longer" };
  if (tufSource !== "" && names.includes(OF_SETTINGS))
    found[OF_SETTINGS] ??= { missing: "the trust root was not fetched from the mirror yet" };
  return found;
}

function whyMissing({ state, message }: Pick<Row<"tuf_copies">, "state" | "message">): string {
  const what = state === TrustRootState.EXPIRED ? "the trust root has expired" : "the trust root is not there yet";
  return `${what}: ${message}`.slice(0, 450);
}
