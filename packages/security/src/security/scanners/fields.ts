import { type Scanner, ScannerSchema } from "@moorage/api/messages";
import { violationsOf } from "@moorage/kernel/aip/validate";
import type { Config } from "@moorage/kernel/config";
import type { FieldViolation } from "@moorage/kernel/errors";
import { urlFault } from "@moorage/kernel/lib/url-fault";

/** All violations of a scanner that can be found without asking it. */
export function scannerViolations(scanner: Scanner, rules: Pick<Config, "allowPrivateNetwork">): FieldViolation[] {
  const found = violationsOf(ScannerSchema, scanner);
  const fault = found.some(({ field }) => field === "url") ? undefined : urlFault(scanner.url, rules);
  return fault === undefined ? found : [...found, { field: "url", description: fault }];
}
