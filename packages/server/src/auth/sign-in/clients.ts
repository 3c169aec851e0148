/**
 * A program that sends people here to sign in. All of them are public: they have no secret, and prove by PKCE that a
 * code was made for them.
 */
export interface Client {
  id: string;
  /** As people are told. */
  name: string;
  mayRedirect(uri: string): boolean;
}

/** The command line on the person's own machine. */
export const CLI_CLIENT = "moorage-cli";
/** A console at the addresses of MOORAGE_OAUTH_REDIRECT_URIS. */
export const WEB_CLIENT = "moorage-web";

const LOOPBACK = /^http:\/\/(?:127\.0\.0\.1|\[::1\]):([1-9]\d{0,4})(?:\/[A-Za-z0-9._~/-]*)?$/;
const MAX_URI_CHARS = 512;

/** The client of that id; undefined when there is none. */
export function clientOf(id: string, redirectUris: readonly string[]): Client | undefined {
  if (id === CLI_CLIENT) return { id, name: "The Moorage command line", mayRedirect: isLoopback };
  // Texts that are equal, not URLs that mean the same: the simplest rule is the one that cannot be led astray. Source:
  // RFC 9700 §4.1.3.
  if (id === WEB_CLIENT) return { id, name: "The Moorage console", mayRedirect: (uri) => redirectUris.includes(uri) };
  return undefined;
}

/**
 * Whether the text is an address of the machine itself, by number and at whatever port. A name such as localhost may
 * lead elsewhere. Source: RFC 8252 §7.3, §8.3.
 */
function isLoopback(uri: string): boolean {
  const port = LOOPBACK.exec(uri)?.[1];
  if (port === undefined || Number(port) > 65_535 || uri.length > MAX_URI_CHARS) return false;
  // What a browser would make something else of, such as dot segments, is none.
  const { href } = new URL(uri);
  return href === uri || href === `${uri}/`;
}
