/**
 * The version of the readers. With a larger one all images are read again that were read before, in the background, so
 * it is raised by one in a release whose readers find more.
 */
export const READERS_VERSION = 1;
