/**
 * An OAuth client: a program that sends people to this server to sign in. All clients are public: they have no secret,
 * and prove by PKCE that a code was issued for them. Those of others: auth/sign-in/client-document.ts.
 */
export interface Client {
  id: string;
  /** The name that people are shown. */
  name: string;
  /**
   * The host that vouches for a client of others, by its metadata document. Undefined for the clients of this server.
   */
  host?: string;
  mayRedirect(uri: string): boolean;
}

/** The command line on the person's own machine. */
export const CLI_CLIENT = "moorage-cli";
/** A web console at the redirect URIs of MOORAGE_OAUTH_REDIRECT_URIS. */
const WEB_CLIENT = "moorage-web";

const LOOPBACK = /^http:\/\/(?:127\.0\.0\.1|\[::1\]):([1-9]\d{0,4})(?:\/[A-Za-z0-9._~/-]*)?$/;
const MAX_URI_CHARS = 512;

/** The client of this server of that id; undefined when there is none. */
export function clientOf(id: string, redirectUris: readonly string[]): Client | undefined {
  if (id === CLI_CLIENT) return { id, name: "The Moorage command line", mayRedirect: isLoopback };
  // Compared as strings, as RFC 9700 §4.1.3 demands: URLs that are merely equivalent are no match.
  if (id === WEB_CLIENT) return { id, name: "The Moorage console", mayRedirect: (uri) => redirectUris.includes(uri) };
  return undefined;
}

/**
 * Whether the text is a loopback address of the person's machine, as an IP literal with any port. A name such as
 * localhost may resolve elsewhere. Source: RFC 8252 §7.3, §8.3.
 */
function isLoopback(uri: string): boolean {
  const port = LOOPBACK.exec(uri)?.[1];
  if (port === undefined || Number(port) > 65_535 || uri.length > MAX_URI_CHARS) return false;
  // A text that a browser would normalize, such as one with dot segments, is none.
  const { href } = new URL(uri);
  return href === uri || href === `${uri}/`;
}
