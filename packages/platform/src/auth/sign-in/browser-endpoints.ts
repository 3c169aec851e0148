import type { Request, RequestData, RequestHandler, Response } from "@moorage/kernel/core/http";
import type { CallData } from "@moorage/kernel/core/call";
import type { Config } from "@moorage/kernel/config";
import { providerOf } from "../../iam/index.ts";
import { OAuthError, withValues } from "../http/oauth.ts";
import { one, parseAuthorize, parseTarget, stateOf } from "./authorize.ts";
import { choiceByLink } from "./choice-page.ts";
import type { ClientDocuments } from "./client-documents.ts";
import type { Client } from "./clients.ts";
import { consentProof } from "./consent.ts";
import type { Cookie } from "./cookies.ts";
import { type Ending, type Flow, SIGN_IN_TTL_MS, SESSION_TTL_MS } from "./flow.ts";
import { answerPage, plainPage, redirect } from "./pages.ts";
import { type OfferDeps, offeredProviders } from "./offered-providers.ts";
import { newSecret } from "./secrets.ts";

export interface BrowserDeps extends OfferDeps {
  config: Pick<Config, "baseUrl" | "oauthRedirectUris" | "localAccounts">;
  flow: Flow;
  /** Finds clients of others. Undefined where none are served. */
  documents: ClientDocuments | undefined;
  /** Ties a sign-in to the browser in which it began. */
  browserCookie: Cookie;
  sessionCookie: Cookie;
  callData(request: Request, data: RequestData): CallData;
}

const FAILED = "Sign-in failed";
const MAX_PATH_CHARS = 2048;
/** Parameters that the page of choice sets itself. */
const NOT_KEPT = new Set(["organization", "identity_provider", "consent"]);

/**
 * GET /oauth/authorize: redirects the browser to the identity provider, for a client that requests an authorization
 * code.
 */
export function authorizeEndpoint(deps: BrowserDeps): RequestHandler {
  const { config, flow, documents, callData } = deps;
  return onPage(async (request, response, data) => {
    const parameters = withValues(parametersOf(request));
    const call = callData(request, data);
    const known = { redirectUris: config.oauthRedirectUris, documents };
    const { client, redirectUri } = await parseTarget(parameters, known, call.nowMs);
    // The request shows the page of choice unless the person chose on it, or no person needs to be asked.
    let asking: Asking | undefined;
    try {
      const { identityProvider, ...wanted } = parseAuthorize(parameters, client, config.baseUrl);
      const browser = client.host === undefined && identityProvider === "" ? "" : browserOf(deps, request, response);
      if (client.host !== undefined) asking = { client, redirectUri, proof: consentProof(browser, parameters) };
      if (identityProvider !== "" && (asking === undefined || one(parameters, "consent") === asking.proof)) {
        const target = { kind: "client", clientId: client.id, redirectUri, ...wanted } as const;
        return redirect(response, await flow.begin(target, identityProvider, browser, call));
      }
    } catch (error) {
      // Nobody is sent, unasked, to an address that anybody may have written into a document. Source: RFC 9700 §4.11.2.
      if (!(error instanceof OAuthError) || client.host !== undefined) throw error;
      return redirect(response, clientUrl(redirectUri, config.baseUrl, stateOf(parameters), faultOf(error)));
    }
    await answerChoice(deps, request, response, data, asking);
  });
}

/** A client of others, which the person is asked about, and the proof that the person was. */
interface Asking {
  client: Client;
  redirectUri: string;
  proof: string;
}

/** Lets the person choose an identity provider, with which the request is then made again. */
async function answerChoice(
  deps: BrowserDeps,
  request: Request,
  response: Response,
  data: RequestData,
  asking?: Asking,
): Promise<void> {
  const parameters = parametersOf(request);
  const organization = one(parameters, "organization");
  const named = asking === undefined ? undefined : await providerOf(deps.reader, one(parameters, "identity_provider"));
  const providers =
    organization !== ""
      ? await offeredProviders(deps, organization, deps.callData(request, data))
      : named === undefined
        ? []
        : [named];
  const kept = [...parameters].filter(([name]) => !NOT_KEPT.has(name));
  const page = choiceByLink({ action: pathOf(request), kept, organization, providers, ...asking });
  answerPage(response, page);
}

/** GET /sign-in: redirects the browser to the identity provider, to start a browser session of this server. */
export function signInEndpoint(deps: BrowserDeps): RequestHandler {
  return onPage(async (request, response, data) => {
    const parameters = parametersOf(request);
    const returnTo = one(parameters, "return_to") || "/";
    if (!isOwnPath(returnTo)) throw new OAuthError(400, "invalid_request", "return_to must be a path of this server");
    const identityProvider = one(parameters, "identity_provider");
    if (identityProvider === "") return answerChoice(deps, request, response, data);
    const browser = browserOf(deps, request, response);
    const call = deps.callData(request, data);
    redirect(response, await deps.flow.begin({ kind: "session", returnTo }, identityProvider, browser, call));
  });
}

/** GET /oauth/callback and below: the redirect URIs that are registered at identity providers. */
export function callbackEndpoint(deps: BrowserDeps): RequestHandler {
  const { config, flow, browserCookie, sessionCookie, callData } = deps;
  return onPage(async (request, response, data) => {
    const ending = await flow.finish(
      pathOf(request),
      parametersOf(request),
      browserCookie.read(request),
      callData(request, data),
    );
    if (ending === undefined) {
      return answerPage(
        response,
        plainPage(
          400,
          FAILED,
          "This sign-in was not begun in this browser, took longer than ten minutes, or has ended already. Begin again.",
        ),
      );
    }
    const { target } = ending;
    switch (target.kind) {
      case "client":
        return redirect(response, clientUrl(target.redirectUri, config.baseUrl, target.state, answerOf(ending)));
      case "device":
        if ("fault" in ending) throw ending.fault;
        return answerPage(response, plainPage(200, "Signed in", "The device is signed in. You may close this page."));
      case "session":
        if ("fault" in ending) throw ending.fault;
        sessionCookie.set(response, ending.secret, SESSION_TTL_MS / 1000);
        return redirect(response, target.returnTo, 303);
    }
  });
}

/**
 * The secret in the browser's cookie, new when there is none. The cookie is set again, for as long as a sign-in may
 * take.
 */
export function browserOf(
  { browserCookie }: Pick<BrowserDeps, "browserCookie">,
  request: Request,
  response: Response,
): string {
  const browser = browserCookie.read(request) ?? newSecret();
  browserCookie.set(response, browser, SIGN_IN_TTL_MS / 1000);
  return browser;
}

/** Wraps the handler: shows its OAuthErrors to the person as an HTML page. */
export function onPage(handler: RequestHandler): RequestHandler {
  return async (request, response, data) => {
    try {
      await handler(request, response, data);
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      answerPage(response, plainPage(error.status, FAILED, sentence(error.message)));
    }
  };
}

function pathOf({ url = "/" }: Request): string {
  return url.split("?", 1)[0] ?? "/";
}

/** The parameters in the request's URL. */
export function parametersOf(request: Request): URLSearchParams {
  return new URL(request.url ?? "/", "http://localhost").searchParams;
}

function answerOf(ending: Ending): Record<string, string> {
  return "fault" in ending ? faultOf(ending.fault) : { code: ending.secret };
}

function faultOf({ error, message }: OAuthError): Record<string, string> {
  return { error, error_description: message };
}

/** The redirect URI with the answer for the client, and our issuer. Source: RFC 6749 §4.1.2, RFC 9207. */
export function clientUrl(redirectUri: string, issuer: string, state: string, answer: Record<string, string>): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries({ ...answer, ...(state !== "" && { state }), iss: issuer }))
    url.searchParams.append(name, value);
  return url.href;
}

/**
 * Whether it is a path of this server that no browser takes for another site, as browsers take `//host` and `/\host`.
 */
function isOwnPath(path: string): boolean {
  return (
    path.length <= MAX_PATH_CHARS &&
    /^\/(?![/\\])[\x21-\x7e]*$/.test(path) &&
    !path.includes("\\") &&
    new URL(path, "http://localhost").origin === "http://localhost"
  );
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
