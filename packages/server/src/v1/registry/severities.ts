import { Vulnerability_Severity as Severity } from "@moorage/api/v1/registry";

/** v1's severities by those of findings. v1 has none for a CVSS score of 0: it is less than low, too. */
export const SEVERITIES = {
  UNKNOWN: Severity.UNKNOWN,
  NONE: Severity.NEGLIGIBLE,
  NEGLIGIBLE: Severity.NEGLIGIBLE,
  LOW: Severity.LOW,
  MEDIUM: Severity.MEDIUM,
  HIGH: Severity.HIGH,
  CRITICAL: Severity.CRITICAL,
} as const;
