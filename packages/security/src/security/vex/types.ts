import type { VexRemedy } from "./remedies.ts";

/** What VEX says of a vulnerability. Source: CISA, Minimum Requirements for VEX. */
export type VexStatus = "not_affected" | "affected" | "fixed" | "under_investigation";

/** What a document says of one vulnerability in one product, whatever its format. */
export interface VexStatement {
  /** The ids of the vulnerability, in lower case, its main one first. */
  ids: string[];
  status: VexStatus;
  /** Why it is not affected, as OpenVEX names it; empty when that is not said. */
  justification: string;
  /** The same for people: the impact, or what was done. Empty when nothing is said. */
  impact: string;
  /** What it is about: a purl, or what the document calls it. Empty where it names no more than a component. */
  product: string;
  /** The component of the product, a purl; empty when all of it is meant. */
  component: string;
  /** When it was made or last changed, in milliseconds since 1970; 0 when the document does not say. */
  timeMs: number;
  /** What can be done about it. */
  remedies: VexRemedy[];
}

/** A VEX document. */
export interface VexDocument {
  /** Its id; empty when it has none. */
  id: string;
  author: string;
  /** The purl of what the document as a whole is about, where its format has one; empty otherwise. */
  subject: string;
  statements: VexStatement[];
}

/** The justifications of OpenVEX and CSAF. */
const JUSTIFICATIONS: ReadonlySet<string> = new Set([
  "component_not_present",
  "vulnerable_code_not_present",
  "vulnerable_code_not_in_execute_path",
  "vulnerable_code_cannot_be_controlled_by_adversary",
  "inline_mitigations_already_exist",
]);

/** The justification; empty when it is none. */
export function justificationOf(value: unknown): string {
  return typeof value === "string" && JUSTIFICATIONS.has(value) ? value : "";
}
