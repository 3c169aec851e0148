import type { RequestHandler } from "@moorage/kernel/core/http";
import { guarded, type StsDeps } from "../http/endpoints.ts";
import type { AccountDeps } from "./deps.ts";
import { newPasskeyEndpoint, newPasskeyOptionsEndpoint, newPasswordEndpoint, offerEndpoint } from "./make-endpoints.ts";
import type { Authenticator } from "../tokens/authenticate.ts";
import { accountEndpoint, changeEndpoints } from "./profile-endpoints.ts";
import { recoveryLinksEndpoint, sendsMailEndpoint } from "./recovery-links.ts";
import {
  accountsHereEndpoint,
  passkeyEndpoint,
  passkeyOptionsEndpoint,
  passwordEndpoint,
} from "./sign-in-endpoints.ts";

/** The endpoints of accounts that the installation keeps, by path; see `paths` of the router's handlers. */
export function createAccountEndpoints(
  deps: AccountDeps & Pick<StsDeps, "answerError"> & { authenticate: Authenticator },
): Record<string, RequestHandler> {
  const posts = {
    "/session/passkey/options": passkeyOptionsEndpoint(deps),
    "/session/passkey": passkeyEndpoint(deps),
    "/session/account/offer": offerEndpoint(deps),
    "/session/account/password": newPasswordEndpoint(deps),
    "/session/account/passkey/options": newPasskeyOptionsEndpoint(deps),
    "/session/account/passkey": newPasskeyEndpoint(deps),
    "/session/recovery-links": recoveryLinksEndpoint(deps),
    ...Object.fromEntries(
      Object.entries(changeEndpoints(deps)).map(([path, handler]) => [`/session/account/${path}`, handler]),
    ),
  };
  const [signIn, here] = [passwordEndpoint(deps), accountsHereEndpoint(deps)];
  return {
    "/session/password": guarded(deps, ["GET", "POST"], (request, response, data) =>
      (request.method === "GET" ? here : signIn)(request, response, data),
    ),
    "/session/mail": guarded(deps, ["GET"], sendsMailEndpoint(deps)),
    "/session/account": guarded(deps, ["GET"], accountEndpoint(deps)),
    ...Object.fromEntries(Object.entries(posts).map(([path, handler]) => [path, guarded(deps, ["POST"], handler)])),
  };
}
