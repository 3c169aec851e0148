import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type ExchangeRefreshTokenRequest,
  type ExchangeRequest,
  type RawToken,
  RawTokenSchema,
  type TokenPair,
  TokenPairSchema,
} from "@moorage/api/messages";
import type { CallData } from "@moorage/kernel/core/call";
import { requireBearer } from "../tokens/authenticate.ts";
import type { Exchanger } from "../exchange/exchange.ts";

/** The service moorage.oidc.SecurityTokenService. `authorization` is the call's Authorization header. */
export interface SecurityTokenService {
  exchange(data: CallData, request: ExchangeRequest, authorization: string | undefined): Promise<RawToken>;
  exchangeRefreshToken(
    data: CallData,
    request: ExchangeRefreshTokenRequest,
    authorization: string | undefined,
  ): Promise<TokenPair>;
}

/** Its methods throw as those of Exchanger do. */
export function createSecurityTokenService(exchanger: Exchanger): SecurityTokenService {
  return {
    async exchange(data, { aud, cap, identity, identityProvider, scope, scopes }, authorization) {
      const request = {
        bearer: requireBearer(authorization),
        audiences: aud,
        capabilities: cap,
        scopes: together(scope, scopes),
        identity,
        identityProvider,
      };
      const { token, refreshToken, expiresAtMs } = await exchanger.exchange(request, data);
      return create(RawTokenSchema, { token, refreshToken, expiry: timestampFromMs(expiresAtMs) });
    },
    async exchangeRefreshToken(data, { aud, cap, scope, scopes }, authorization) {
      const answer = await exchanger.refresh(
        { bearer: requireBearer(authorization), audiences: aud, capabilities: cap, scopes: together(scope, scopes) },
        data,
      );
      return create(TokenPairSchema, {
        token: { token: answer.token, expiry: timestampFromMs(answer.expiresAtMs) },
        refreshToken: { token: answer.refreshToken, expiry: timestampFromMs(answer.refreshExpiresAtMs) },
      });
    },
  };
}

function together(scope: string, scopes: string[]): string[] {
  return scope === "" ? scopes : [scope, ...scopes];
}
