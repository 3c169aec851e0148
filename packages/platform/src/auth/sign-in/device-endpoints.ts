import { randomUUID } from "node:crypto";
import type { CallData } from "@moorage/kernel/core/call";
import type { Request, RequestHandler, Response } from "@moorage/kernel/core/http";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import { networkOf } from "@moorage/kernel/lib/network";
import type { Database, Row } from "@moorage/kernel/store";
import { providerOf } from "../../iam/index.ts";
import { OAuthError } from "../http/oauth.ts";
import { answerJson, formOf } from "../http/endpoints.ts";
import { one, parseScope, required } from "./authorize.ts";
import { type BrowserDeps, browserOf, onPage, parametersOf } from "./browser-endpoints.ts";
import { choiceByForm } from "./choice-page.ts";
import { CLI_CLIENT, clientOf } from "./clients.ts";
import type { Narrowed } from "./flow.ts";
import type { Guesses } from "./guess-limit.ts";
import { answerPage, escaped, type Page, plainPage, redirect } from "./pages.ts";
import { offeredProviders } from "./offered-providers.ts";
import { hashOf, newSecret } from "./secrets.ts";
import { newUserCode, readUserCode, shownUserCode } from "./user-code.ts";
import { denyDevice, openDevice } from "./device-commands.ts";

export interface DeviceDeps extends BrowserDeps {
  reader: Database;
  writer: CommandWriter;
  guesses: Guesses;
}

const TTL_S = 600;
const INTERVAL_S = 5;
const MAX_WAITING_PER_NETWORK = 100;
const MAX_AGENT_CHARS = 200;
const TITLE = "Sign in a device";

/**
 * POST /oauth/device_authorization: issues a device code and a user code to a device without a browser. Source: RFC
 * 8628 §3.1, §3.2.
 */
export function deviceAuthorizationEndpoint({ config, reader, writer, callData }: DeviceDeps): RequestHandler {
  return onJson(async (request, response, data) => {
    const form = await formOf(request);
    // A client with a browser does not need the device flow.
    if (required(form, "client_id") !== CLI_CLIENT)
      throw new OAuthError(400, "unauthorized_client", "the client may not use the device flow");
    // Without one, the person chooses on the page.
    const provider = one(form, "identity_provider");
    if (provider !== "" && (await providerOf(reader, provider)) === undefined)
      throw new OAuthError(400, "invalid_request", "identity_provider names no identity provider of this server");
    const narrowed = parseScope(one(form, "scope"));
    const call = callData(request, data);
    await requireCapacity(reader, call);
    const device = {
      clientId: CLI_CLIENT,
      provider,
      request: JSON.stringify(narrowed),
      address: call.remoteAddress,
      network: networkOf(call.remoteAddress),
      userAgent: call.userAgent.slice(0, MAX_AGENT_CHARS),
      family: randomUUID(),
      intervalMs: INTERVAL_S * 1000,
      expireTimeMs: call.nowMs + TTL_S * 1000,
    };
    for (;;) {
      const [deviceCode, userCode] = [newSecret(), newUserCode()];
      // Repeated with another user code when this one is in use, which is one chance in billions.
      if (
        !(await writer.write(openDevice, call, {
          ...device,
          hash: hashOf(deviceCode),
          userCodeHash: hashOf(userCode),
        }))
      )
        continue;
      const uri = `${config.baseUrl}/oauth/device`;
      return answerJson(request, response, 200, {
        device_code: deviceCode,
        user_code: shownUserCode(userCode),
        verification_uri: uri,
        verification_uri_complete: `${uri}?user_code=${shownUserCode(userCode)}`,
        expires_in: TTL_S,
        interval: INTERVAL_S,
      });
    }
  });
}

/**
 * GET and POST /oauth/device: the person enters the user code, is shown which device asks, and goes on to the identity
 * provider or declines. A form is accepted only with a proof derived from the browser's cookie, which no other site can
 * send. Source: RFC 8628 §3.3, §5.4.
 */
export function devicePageEndpoint(deps: DeviceDeps): RequestHandler {
  return onPage(async (request, response, data) => {
    const browser = browserOf(deps, request, response);
    if (request.method === "GET")
      return answerForm(deps, response, codePage(proofOf(browser), one(parametersOf(request), "user_code")));
    const form = await formOf(request);
    if (one(form, "proof") !== proofOf(browser))
      throw new OAuthError(
        403,
        "invalid_request",
        "the form was not sent from this page, or the browser does not accept cookies: open the page again",
      );
    const call = deps.callData(request, data);
    const device = await findWaiting(deps, one(form, "user_code"), call);
    if (device === undefined)
      return answerForm(
        deps,
        response,
        { ...codePage(proofOf(browser), ""), status: 400 },
        "No device waits with this code. Look at it again, or begin again on the device.",
      );
    switch (one(form, "answer")) {
      case "":
        return answerForm(deps, response, deviceDetails(deps, proofOf(browser), one(form, "user_code"), device));
      case "deny":
        await deps.writer.write(denyDevice, call, { hash: device.hash });
        return answerPage(
          response,
          plainPage(200, "Declined", "The device is not signed in. You may close this page."),
        );
      case "go": {
        const provider = device.provider || one(form, "identity_provider");
        if (provider === "") return answerChoice(deps, response, form, proofOf(browser), call);
        // Written by `deviceAuthorizationEndpoint` above.
        const narrowed = JSON.parse(device.request) as Narrowed;
        return redirect(
          response,
          await deps.flow.begin(
            { kind: "device", hash: device.hash, clientId: device.client_id, narrowed },
            provider,
            browser,
            call,
          ),
          303,
        );
      }
      default:
        throw new OAuthError(400, "invalid_request", "answer must be go or deny");
    }
  });
}

/** Lets the person choose an identity provider for the device. */
async function answerChoice(
  deps: DeviceDeps,
  response: Response,
  form: URLSearchParams,
  proof: string,
  call: CallData,
): Promise<void> {
  const organization = one(form, "organization");
  const providers = organization === "" ? [] : await offeredProviders(deps, organization, call);
  const kept = [
    ["user_code", one(form, "user_code")],
    ["proof", proof],
    ["answer", "go"],
  ] as const;
  answerForm(deps, response, choiceByForm({ action: "/oauth/device", kept, organization, providers }));
}

/**
 * The device that waits with the user code that the person entered; undefined when there is none. Throws an OAuthError
 * after too many wrong codes.
 */
async function findWaiting(
  { reader, guesses }: DeviceDeps,
  typed: string,
  { remoteAddress, nowMs }: CallData,
): Promise<Row<"device_codes"> | undefined> {
  if (!guesses.mayGuess(remoteAddress, nowMs))
    throw new OAuthError(429, "slow_down", "too many wrong codes were typed: try again in ten minutes");
  const code = readUserCode(typed);
  const row =
    code === undefined
      ? undefined
      : await reader
          .selectFrom("device_codes")
          .selectAll()
          .where("user_code_hash", "=", hashOf(code))
          .executeTakeFirst();
  if (row?.state === "pending" && row.expire_time > nowMs) return row;
  guesses.failed(remoteAddress, nowMs);
  return undefined;
}

async function requireCapacity(reader: Database, { remoteAddress, nowMs }: CallData): Promise<void> {
  const { n } = await reader
    .selectFrom("device_codes")
    .select((query) => query.fn.countAll<number>().as("n"))
    .where("network", "=", networkOf(remoteAddress))
    .where("expire_time", ">", nowMs)
    // Those that end later were begun before the clock was set back.
    .where("expire_time", "<=", nowMs + TTL_S * 1000)
    .executeTakeFirstOrThrow();
  if (Number(n) >= MAX_WAITING_PER_NETWORK)
    throw new OAuthError(429, "slow_down", "too many devices of your network wait already: try again in ten minutes");
}

/** The proof that a form of this browser must hold: other sites cannot read the cookie that it is derived from. */
function proofOf(browser: string): string {
  return hashOf(`device form ${browser}`);
}

function answerForm({ config }: DeviceDeps, response: Response, page: Page, warning = ""): void {
  const body = warning === "" ? page.body : `<p><strong>${escaped(warning)}</strong></p>\n${page.body}`;
  // Submitting the form ends in a redirect to the identity provider, which browsers allow only to sources of the page's
  // form-action. The provider is not known yet, so all sites are allowed, by scheme.
  answerPage(response, { ...page, body }, config.baseUrl.startsWith("https:") ? ["https:"] : ["https:", "http:"]);
}

function codePage(proof: string, code: string): Page {
  return {
    status: 200,
    title: TITLE,
    body: `<form method="post" action="/oauth/device">
<p><label>The code that the device shows: <input name="user_code" value="${escaped(code)}" required maxlength="20" autocomplete="off" autocapitalize="characters" spellcheck="false"></label></p>
<input type="hidden" name="proof" value="${proof}">
<button>Go on</button>
</form>`,
  };
}

function deviceDetails({ config }: DeviceDeps, proof: string, code: string, device: Row<"device_codes">): Page {
  const name = clientOf(device.client_id, config.oauthRedirectUris)?.name ?? device.client_id;
  return {
    status: 200,
    title: TITLE,
    body: `<dl><dt>Program</dt><dd>${escaped(name)}</dd><dt>At the address</dt><dd>${escaped(device.address)}</dd><dt>It says that it is</dt><dd>${escaped(device.user_agent || "nothing")}</dd></dl>
<p>Go on only if you began this yourself, just now, on a device of yours. Whoever sent you the code gets in as you.</p>
<form method="post" action="/oauth/device">
<input type="hidden" name="user_code" value="${escaped(code)}"><input type="hidden" name="proof" value="${proof}">
<button name="answer" value="go">Sign it in</button> <button name="answer" value="deny">Decline</button>
</form>`,
  };
}

/** Wraps the handler: answers its OAuthErrors as JSON. Source: RFC 6749 §5.2. */
export function onJson(handler: RequestHandler): RequestHandler {
  return async (request: Request, response, data) => {
    try {
      await handler(request, response, data);
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      answerJson(request, response, error.status, { error: error.error, error_description: error.message });
    }
  };
}
