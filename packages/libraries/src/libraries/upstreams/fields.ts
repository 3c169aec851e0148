import { type Upstream, UpstreamSchema } from "@moorage/api/messages";
import { violationsOf } from "@moorage/kernel/aip/validate";
import type { Config } from "@moorage/kernel/config";
import type { FieldViolation } from "@moorage/kernel/errors";
import { urlFault } from "@moorage/kernel/lib/url-fault";
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
