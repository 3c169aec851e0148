import { ADVISORIES } from "./advisories.ts";
import { DOCUMENTS } from "./documents.ts";
import type { HeavyInput } from "./input.ts";
import { REPORTS } from "./reports.ts";

/** All heavy inputs, by the suite that plays them: documents and lists of the API. */
export const HEAVY = {
  documents: DOCUMENTS,
  advisories: ADVISORIES,
  reports: REPORTS,
} satisfies Record<string, readonly HeavyInput[]>;
