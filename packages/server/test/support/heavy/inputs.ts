import { DOCUMENTS } from "./documents.ts";
import type { HeavyInput } from "./input.ts";

/** All heavy inputs, by the suite that plays them: documents and lists of the API. */
export const HEAVY = {
  documents: DOCUMENTS,
} satisfies Record<string, readonly HeavyInput[]>;
