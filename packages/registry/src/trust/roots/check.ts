import { type TrustRoot, TrustRootSchema, type TufMirror } from "@moorage/api/messages";
import { validate } from "@moorage/kernel/aip/validate";
import { type FieldViolation, invalidArgument } from "@moorage/kernel/errors";
import { checkedUrl, FetchError } from "@moorage/kernel/lib/guarded-fetch";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { intervalMs } from "./resource.ts";
import { rangeFaults, thresholdsIn, unreachable } from "./thresholds.ts";
import { trustedRootFault } from "./trusted-root.ts";

const MAX_DEPTH = 32;
const MIN_INTERVAL_MS = 3_600_000;
const MAX_INTERVAL_MS = 30 * 86_400_000;

/** Throws INVALID_ARGUMENT for a trust root by which nothing could be verified, with all that is wrong. */
export async function checkTrustRoot(
  root: TrustRoot,
  { allowPrivateNetwork }: { allowPrivateNetwork: boolean },
): Promise<void> {
  validate(TrustRootSchema, root);
  const violations: FieldViolation[] = [];
  const { trustedRoot, tuf } = root;
  if ((trustedRoot === "") === (tuf === undefined))
    violations.push({ field: "trustedRoot", description: "exactly one of trustedRoot and tuf is required" });
  if (trustedRoot !== "") {
    const description = await trustedRootFault(trustedRoot);
    if (description !== undefined) violations.push({ field: "trustedRoot", description });
  }
  if (tuf !== undefined) violations.push(...mirrorViolations(tuf, allowPrivateNetwork));
  const thresholds = thresholdsIn(root);
  violations.push(...rangeFaults(thresholds));
  if (violations.length === 0 && trustedRoot !== "") violations.push(...unreachable(trustedRoot, thresholds));
  if (violations.length > 0) throw invalidArgument(...violations);
}

/** Why a text is not metadata of the role root of TUF; undefined when it looks like it. It is verified in use. */
export function tufRootFault(text: string): string | undefined {
  let root: unknown;
  try {
    root = parseJson(text, MAX_DEPTH);
  } catch {
    return "is not JSON";
  }
  const signed = isObject(root) ? root["signed"] : undefined;
  return isObject(signed) && signed["_type"] === "root" && isObject(root) && Array.isArray(root["signatures"])
    ? undefined
    : 'is not the metadata of a root of TUF: it has no signatures over one with "_type": "root"';
}

/** Why metadata is not fetched below a URL; undefined when it is. */
export function mirrorUrlFault(url: string, allowPrivateNetwork: boolean): string | undefined {
  try {
    const { search, hash } = checkedUrl(url, { allowPrivateNetwork });
    return search === "" && hash === "" ? undefined : "must be a URL without ? and #";
  } catch (error) {
    if (error instanceof FetchError) return `is not fetched: ${error.message}`;
    throw error;
  }
}

function mirrorViolations({ url, root, interval }: TufMirror, allowPrivateNetwork: boolean): FieldViolation[] {
  const found: FieldViolation[] = [];
  const wrong = (field: string, description: string | undefined): void => {
    if (description !== undefined) found.push({ field: `tuf.${field}`, description });
  };
  wrong("url", mirrorUrlFault(url, allowPrivateNetwork));
  wrong("root", tufRootFault(root));
  if (interval !== undefined) {
    const everyMs = intervalMs(interval);
    if (everyMs < MIN_INTERVAL_MS || everyMs > MAX_INTERVAL_MS)
      wrong("interval", "must be an hour at least, and 30 days at most");
  }
  return found;
}
