// What is read of texts of others, and where. docs/libraries.md, "Limits", has these numbers.

/**
 * The largest document that is read in the thread that serves: of such a size even the worst one, small values only,
 * takes some ten milliseconds. Larger ones are read in the child processes of the pool.
 */
export const INLINE_BYTES = 128 * 1024;

/** By how much longer it takes to read so many bytes of XML than of JSON: an element may have four. */
export const XML_COST = 4;

/** Documents that are read, or wait in memory to be read, together have at most so many bytes. */
export const LARGE_BYTES_UNDER_WAY = 160 * 1024 * 1024;
/** How long one waits for the others before its client is asked to come again. */
export const WAIT_MS = 20_000;
export const MAX_WAITING = 1_000;
export const MAX_WAITING_OF_ONE = 200;

/** How long a child may take for one document; those at the limits take some seconds. */
export const TASK_TIMEOUT_MS = 60_000;

/** What could not be read is not tried again for so long. */
export const UNREADABLE_MS = 60_000;

/** How deep and of how many values JSON may be that is not known to be of this server. */
export const MAX_JSON_DEPTH = 200;
export const MAX_JSON_VALUES = 4_000_000;
