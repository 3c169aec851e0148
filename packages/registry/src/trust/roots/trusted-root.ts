import { isObject, parseJson } from "@moorage/kernel/lib/json";

const MAX_DEPTH = 32;
const MAX_REASON = 200;
const PARTS = ["tlogs", "certificateAuthorities", "ctlogs", "timestampAuthorities"];
/** The most of each, such as logs: each signature may be compared with all of them. */
const MAX_OF_PART = 50;

/** Why a text is not the trusted root of an instance of Sigstore; undefined when it is. */
export async function trustedRootFault(text: string): Promise<string | undefined> {
  let root: unknown;
  try {
    root = parseJson(text, MAX_DEPTH);
  } catch {
    // Programs write the roots of several instances one to a line.
    return text.trim().includes("\n{") ? "must be one JSON object: make a trust root of each line" : "is not JSON";
  }
  if (!isObject(root) || !Array.isArray(root["certificateAuthorities"]) || root["certificateAuthorities"].length === 0)
    return "is not a trusted root of Sigstore: it has no certificateAuthorities";
  for (const part of PARTS) {
    const all = root[part];
    if (all !== undefined && (!Array.isArray(all) || all.length > MAX_OF_PART))
      return `must have a list of at most ${MAX_OF_PART} ${part}`;
  }
  // Loaded for the first root: most servers have none.
  const { trustMaterialOf } = await import("../verify/trust-material.ts");
  try {
    trustMaterialOf(text);
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `cannot be read as a trusted root of Sigstore: ${reason.slice(0, MAX_REASON)}`;
  }
}
