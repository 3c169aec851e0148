import { type Scanner, ScannerSchema } from "@moorage/api/messages";
import { violationsOf } from "../../aip/validate.ts";
import type { Config } from "../../config/index.ts";
import type { FieldViolation } from "../../errors.ts";
import { checkedUrl, FetchError } from "../../lib/guarded-fetch.ts";

/** All violations of a scanner that can be found without asking it. */
export function scannerViolations(scanner: Scanner, rules: Pick<Config, "allowPrivateNetwork">): FieldViolation[] {
  const found = violationsOf(ScannerSchema, scanner);
  const fault = found.some(({ field }) => field === "url") ? undefined : urlFault(scanner.url, rules);
  return fault === undefined ? found : [...found, { field: "url", description: fault }];
}

function urlFault(text: string, rules: Pick<Config, "allowPrivateNetwork">): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return "must be an http or https URL";
  if (url.username !== "" || url.password !== "") return "must not hold a user name or password";
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
