// Written by `npm run generate` out of proto/: change it there.
import type { NounSpec } from "../resources/spec.ts";

/** Every noun of the API. */
export const NOUNS: readonly NounSpec[] = [];
