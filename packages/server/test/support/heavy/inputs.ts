import { ADVISORIES } from "./advisories.ts";
import { ATTACHED } from "./attachments.ts";
import { DOCUMENTS } from "./documents.ts";
import type { HeavyInput } from "./input.ts";
import { LIBRARIES } from "./libraries.ts";
import { LISTS } from "./lists.ts";
import { READERS } from "./readers.ts";
import { REPORTS } from "./reports.ts";
import { REQUESTS } from "./requests.ts";

/** All heavy inputs, by the suite that plays them: documents and lists of the API, libraries, and images. */
export const HEAVY = {
  documents: DOCUMENTS,
  libraries: LIBRARIES,
  advisories: ADVISORIES,
  lists: LISTS,
  readers: READERS,
  reports: REPORTS,
  requests: REQUESTS,
  attached: ATTACHED,
} satisfies Record<string, readonly HeavyInput[]>;
