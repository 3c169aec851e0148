import { timestampMs } from "@bufbuild/protobuf/wkt";
import { createClient as createServiceClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { SecurityTokenService } from "../gen/moorage/oidc/sts_pb.ts";
import { ApiError } from "./errors.ts";

/** Where a client takes the access token of its calls from. */
export interface Credentials {
  /**
   * An access token that is still good. `rejected` is the token that the server has just refused, if any: another one
   * is wanted then.
   */
  accessToken(rejected?: string): string | Promise<string>;
}

/** What `exchangeCredentials` needs. */
export interface ExchangeOptions {
  /** URL of the server. */
  readonly url: string;
  /** A token of an issuer that the identity trusts, such as that of a CI job. Asked for whenever one is traded. */
  readonly idToken: () => string | Promise<string>;
  /** The uid of the identity to become. Default: the one that accepts the token. */
  readonly identity?: string;
  /** The time limit of an exchange in milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
}

/** A token with less time left than this is replaced before it is used. */
const SPARE_MS = 60_000;

/**
 * Credentials that trade the token of another issuer for an access token (keyless, RFC 8693), keep it, and trade again
 * shortly before it ends. Calls at the same time share one exchange.
 */
export function exchangeCredentials({ url, idToken, identity = "", timeoutMs = 30_000 }: ExchangeOptions): Credentials {
  const service = createServiceClient(SecurityTokenService, createConnectTransport({ baseUrl: url }));
  let kept: { token: string; expiresAtMs: number } | undefined;
  let asking: Promise<string> | undefined;
  const exchange = async (): Promise<string> => {
    const headers = { authorization: `Bearer ${await idToken()}` };
    try {
      const { token, expiry } = await service.exchange({ identity }, { headers, timeoutMs });
      kept = { token, expiresAtMs: expiry === undefined ? 0 : timestampMs(expiry) };
      return token;
    } catch (error) {
      throw new ApiError(error);
    }
  };
  return {
    accessToken(rejected) {
      if (kept !== undefined && kept.token !== rejected && Date.now() < kept.expiresAtMs - SPARE_MS) return kept.token;
      asking ??= exchange().finally(() => {
        asking = undefined;
      });
      return asking;
    },
  };
}
