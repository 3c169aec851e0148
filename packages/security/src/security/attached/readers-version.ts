/**
 * The version of the readers of attached documents. With a larger one all documents that count are read again in the
 * background, so it is raised by one in a release whose readers find more in them.
 */
export const ATTACHED_READERS_VERSION = 2;
