// Trades the token of another issuer for one of Moorage, without a secret. Source: RFC 8693.
import { formRequest } from "../oauth.ts";
import { plain } from "../printable.ts";

const EXCHANGE_GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const TOKEN_TYPE = "urn:ietf:params:oauth:token-type:";

/** What a pull needs: those capabilities of the built-in role `registry.pull` that are about images. */
export const PULL_CAPABILITIES = [
  "CAP_IAM_GROUPS_LIST",
  "CAP_REPO_LIST",
  "CAP_REPO_BLOBS_GET",
  "CAP_MANIFEST_LIST",
  "CAP_MANIFEST_METADATA_LIST",
  "CAP_TAG_LIST",
  "CAP_REFERRERS_LIST",
];

/** What is asked for. */
export interface ExchangeRequest {
  /** The URL of the server, without a slash at the end. */
  url: string;
  /** The token of another issuer, a JWT. */
  token: string;
  /** The uid of the identity to become; absent: the one that the token's issuer and subject name. */
  identity?: string;
  /** What the new token is for: the platform's URL, or the registry's host[:port]. */
  audience: string;
  /** The capabilities to keep, by name; absent: all of the identity. */
  capabilities?: readonly string[];
}

/** A token, and when it expires, in milliseconds since 1970. */
export interface Exchanged {
  token: string;
  expiresAtMs: number;
}

/**
 * An access token for the token of another issuer. The refresh token that comes with it is not kept: whoever asks again
 * shows a new token. Throws an Error that says why there is none, without a token in it.
 */
export async function exchange({ url, token, identity, audience, capabilities }: ExchangeRequest): Promise<Exchanged> {
  const answer = await formRequest(`${url}/sts/token`, {
    grant_type: EXCHANGE_GRANT,
    subject_token: token,
    subject_token_type: `${TOKEN_TYPE}jwt`,
    audience,
    ...(identity !== undefined && { identity }),
    ...(capabilities && { scope: capabilities.join(" ") }),
  });
  const { access_token: traded, expires_in: seconds, error_description: description } = answer;
  if (typeof traded === "string" && typeof seconds === "number" && seconds >= 0)
    return { token: traded, expiresAtMs: Date.now() + seconds * 1000 };
  throw new Error(
    `${new URL(url).host} gives no token: ${plain(typeof description === "string" ? description : "it does not say why")}`,
  );
}
