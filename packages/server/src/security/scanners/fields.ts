import { type Scanner, ScannerSchema } from "@moorage/api/messages";
import { violationsOf } from "../../aip/validate.ts";
import type { Config } from "../../config/index.ts";
import type { FieldViolation } from "../../errors.ts";
import { urlFault } from "../../lib/url-fault.ts";

/** All violations of a scanner that can be found without asking it. */
export function scannerViolations(scanner: Scanner, rules: Pick<Config, "allowPrivateNetwork">): FieldViolation[] {
  const found = violationsOf(ScannerSchema, scanner);
  const fault = found.some(({ field }) => field === "url") ? undefined : urlFault(scanner.url, rules);
  return fault === undefined ? found : [...found, { field: "url", description: fault }];
}
