import type { Auditor } from "@moorage/kernel/audit";
import type { CallData } from "@moorage/kernel/core/call";
import type { Config } from "@moorage/kernel/config";
import { Code } from "@moorage/kernel/errors";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import { OAuthError, scopeOf } from "../http/oauth.ts";
import { newRefreshToken } from "../tokens/refresh.ts";
import type { Tokens } from "../tokens/tokens.ts";
import { required } from "./authorize.ts";
import { type Granted, OTHER_RESOURCE, REDEEM, redeemCode } from "./grant-commands.ts";
import { challengeOf, hashOf } from "./secrets.ts";
import { pollDevice } from "./device-commands.ts";
import type { TokenGrants } from "../http/token-grants.ts";

const CODE_GRANT = "authorization_code";
const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

export interface GrantDeps {
  config: Pick<Config, "accessTokenTtlMs">;
  writer: CommandWriter;
  tokens: Tokens;
  auditor: Pick<Auditor, "note">;
}

const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

export function createTokenGrants({ config, writer, tokens, auditor }: GrantDeps): TokenGrants {
  const answer = async (
    { refreshExpireTimeMs, ...caller }: Granted,
    refreshToken: string,
    data: CallData,
  ): Promise<Record<string, unknown>> => {
    const minted = await tokens.mint({
      type: "access",
      ...caller,
      ttlMs: config.accessTokenTtlMs,
      nowMs: data.nowMs,
      notAfterMs: refreshExpireTimeMs,
    });
    const scope = scopeOf(caller);
    return {
      access_token: minted.token,
      token_type: "Bearer",
      expires_in: Math.max(0, (minted.expiresAtMs - minted.issuedAtMs) / 1000),
      refresh_token: refreshToken,
      ...(scope !== undefined && { scope }),
    };
  };
  const denied = (data: CallData, error: OAuthError): OAuthError => {
    auditor.note(data, {
      method: REDEEM,
      resource: "",
      decision: "denied",
      code: Code.Unauthenticated,
      reason: error.error.toUpperCase(),
    });
    return error;
  };
  return {
    /** Source: RFC 6749 §4.1.3, RFC 7636 §4.5. */
    async [CODE_GRANT](form, data) {
      const [code, clientId, redirectUri, verifier] = ["code", "client_id", "redirect_uri", "code_verifier"].map(
        (name) => required(form, name),
      ) as [string, string, string, string];
      const refreshToken = newRefreshToken();
      const challenge = VERIFIER.test(verifier) ? challengeOf(verifier) : "";
      const granted = await writer.write(redeemCode, data, {
        hash: hashOf(code),
        clientId,
        redirectUri,
        challenge,
        refreshHash: hashOf(refreshToken),
        resources: form.getAll("resource"),
      });
      if (granted === OTHER_RESOURCE)
        throw denied(data, new OAuthError(400, "invalid_target", "the code was given for another resource"));
      if (granted === undefined)
        throw denied(
          data,
          new OAuthError(
            400,
            "invalid_grant",
            "the code is unknown, used or expired, or was given for something else: sign in again",
          ),
        );
      return answer(granted, refreshToken, data);
    },
    /** Source: RFC 8628 §3.4, §3.5. */
    async [DEVICE_GRANT](form, data) {
      const refreshToken = newRefreshToken();
      const poll = await writer.write(pollDevice, data, {
        hash: hashOf(required(form, "device_code")),
        clientId: required(form, "client_id"),
        refreshHash: hashOf(refreshToken),
      });
      switch (poll.outcome) {
        case "granted":
          return answer(poll.granted, refreshToken, data);
        case "pending":
          throw new OAuthError(400, "authorization_pending", "the person has not signed in yet");
        case "slow_down":
          throw new OAuthError(400, "slow_down", "ask five seconds less often from now on");
        case "denied":
          throw denied(data, new OAuthError(400, "access_denied", "the sign-in was declined"));
        case "expired":
          throw new OAuthError(400, "expired_token", "the device code has expired: begin again");
        case "unknown":
          throw denied(data, new OAuthError(400, "invalid_grant", "the device code is unknown or used"));
      }
    },
  };
}
