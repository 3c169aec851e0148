import { isPrivate, parseImageSource } from "../registry/index.ts";

/** Where images are pushed to. */
export interface Destination {
  /** Scheme, host and port. */
  origin: string;
  /** What stands in front of the names of repos. */
  path: string;
}

const MAX_NAME_LENGTH = 255;

/** Parses `host[:port]/path`, optionally with a scheme in front. Undefined for any other text. */
export function parseDestination(text: string): Destination | undefined {
  const parsed = parseImageSource(text);
  return parsed && { origin: parsed.origin, path: parsed.name };
}

/** What is wrong with a destination, for the violation of its field; undefined when nothing is. */
export function destinationFault(
  text: string,
  { allowPrivateNetwork }: { allowPrivateNetwork: boolean },
): string | undefined {
  const destination = parseDestination(text);
  if (destination === undefined) return "must be of the form host[:port]/path, without a tag";
  if (!allowPrivateNetwork && isPrivate(destination.origin))
    return "must be reached by https at a public address: MOORAGE_ALLOW_PRIVATE_NETWORK is not set";
  return undefined;
}

/** The name of a repo at the destination; undefined for one that no registry takes. */
export function nameAt({ path }: Destination, repository: string, flatten: boolean): string | undefined {
  const name = `${path}/${flatten ? repository.slice(repository.lastIndexOf("/") + 1) : repository}`;
  return name.length <= MAX_NAME_LENGTH ? name : undefined;
}
