import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type ExchangeRefreshTokenRequest, type ExchangeRequest, type RawToken, RawTokenSchema, type TokenPair, TokenPairSchema } from "@moorage/api";
import type { CallData } from "../call.ts";
import { unauthenticated } from "../errors.ts";
import type { Exchanger } from "./exchange.ts";

/** moorage.oidc.SecurityTokenService. `bearer` is the token of the call's Authorization header, unverified (see `bearerOf`). */
export interface SecurityTokenService {
  exchange(data: CallData, request: ExchangeRequest, bearer: string | undefined): Promise<RawToken>;
  exchangeRefreshToken(data: CallData, request: ExchangeRefreshTokenRequest, bearer: string | undefined): Promise<TokenPair>;
}

/** Errors: see Exchanger. */
export function createSecurityTokenService(exchanger: Exchanger): SecurityTokenService {
  return {
    async exchange(data, { aud, cap, identity, identityProvider, scope, scopes }, bearer) {
      const request = { bearer: required(bearer), audiences: aud, capabilities: cap, scopes: together(scope, scopes), identity, identityProvider };
      const { token, refreshToken, expiresAtMs } = await exchanger.exchange(request, data);
      return create(RawTokenSchema, { token, refreshToken, expiry: timestampFromMs(expiresAtMs) });
    },
    async exchangeRefreshToken(data, { aud, cap, scope, scopes }, bearer) {
      const answer = await exchanger.refresh({ bearer: required(bearer), audiences: aud, capabilities: cap, scopes: together(scope, scopes) }, data);
      return create(TokenPairSchema, {
        token: { token: answer.token, expiry: timestampFromMs(answer.expiresAtMs) },
        refreshToken: { token: answer.refreshToken, expiry: timestampFromMs(answer.refreshExpiresAtMs) },
      });
    },
  };
}

function required(bearer: string | undefined): string {
  if (bearer === undefined) throw unauthenticated("a bearer token is required");
  return bearer;
}

function together(scope: string, scopes: string[]): string[] {
  return scope === "" ? scopes : [scope, ...scopes];
}
