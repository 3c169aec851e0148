import { type Upstream, UpstreamSchema } from "@moorage/api/messages";
import { violationsOf } from "../../aip/validate.ts";
import type { Config } from "../../config/index.ts";
import type { FieldViolation } from "../../errors.ts";
import { checkedUrl, FetchError } from "../../lib/guarded-fetch.ts";
import { MAX_PATTERNS, patternFault } from "./names.ts";

/** All violations of an upstream that can be found without asking it. */
export function upstreamViolations(upstream: Upstream, rules: Pick<Config, "allowPrivateNetwork">): FieldViolation[] {
  const found = violationsOf(UpstreamSchema, upstream);
  const fault = found.some(({ field }) => field === "url") ? undefined : urlFault(upstream.url, rules);
  if (fault !== undefined) found.push({ field: "url", description: fault });
  if (upstream.username !== "" && upstream.password === "")
    found.push({ field: "password", description: "is needed with a user name" });
  for (const field of ["reservedNames", "mergedNames"] as const) {
    if (upstream[field].length > MAX_PATTERNS)
      found.push({ field, description: `may have ${MAX_PATTERNS} names at most` });
    for (const [at, pattern] of upstream[field].entries()) {
      const description = patternFault(pattern);
      if (description !== undefined) found.push({ field: `${field}[${at}]`, description });
    }
  }
  return found;
}

function urlFault(text: string, rules: Pick<Config, "allowPrivateNetwork">): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return "must be an http or https URL";
  if (url.username !== "" || url.password !== "")
    return "must not hold a user name or password: they have fields of their own";
  // `URL` does not show an empty query or fragment.
  if (/[?#]/.test(text)) return "must not hold a query or a fragment";
  try {
    checkedUrl(text, rules);
    return undefined;
  } catch (error) {
    if (!(error instanceof FetchError)) throw error;
    return url.protocol === "http:" ? "must be an https URL" : "must not lead to an address that is not a public one";
  }
}
