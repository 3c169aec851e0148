import type { RequestHandler } from "@moorage/kernel/core/http";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import { OAuthError } from "../http/oauth.ts";
import { isRefreshToken } from "../tokens/refresh.ts";
import { answerJson, formOf } from "../http/endpoints.ts";
import { required } from "./authorize.ts";
import type { BrowserDeps } from "./browser-endpoints.ts";
import { onJson } from "./device-endpoints.ts";
import { hashOf } from "./secrets.ts";
import { revokeRefreshToken } from "./grant-commands.ts";

/**
 * POST /oauth/revoke: revokes a refresh token and all that descend from the same sign-in. Access tokens cannot be
 * revoked; they expire soon. Source: RFC 7009.
 */
export function revokeEndpoint({
  writer,
  callData,
}: { writer: CommandWriter } & Pick<BrowserDeps, "callData">): RequestHandler {
  return onJson(async (request, response, data) => {
    const token = required(await formOf(request), "token");
    if (token.split(".").length === 3)
      throw new OAuthError(400, "unsupported_token_type", "only refresh tokens can be revoked");
    if (isRefreshToken(token)) await writer.write(revokeRefreshToken, callData(request, data), { hash: hashOf(token) });
    answerJson(request, response, 200, {});
  });
}
