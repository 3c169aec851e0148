// A sign-in by a browser on this machine: the server redirects it to a port on which only this process listens. Source:
// RFC 8252 §7.3.
import { createHash, randomBytes } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Endpoints, tokenRequest, type Tokens } from "./oauth.ts";
import { plain } from "./printable.ts";

/** Waits for the browser. `show` gets the address to open there. Throws an Error that says why there are no tokens. */
export async function signInByLoopback(
  { issuer, authorize, token }: Endpoints,
  identityProvider: string,
  show: (url: string) => void,
  timeoutMs: number,
): Promise<Tokens> {
  const [state, verifier] = [randomBytes(32).toString("base64url"), randomBytes(32).toString("base64url")];
  const { promise: signedIn, resolve, reject } = Promise.withResolvers<Tokens>();
  let done = false;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    // Any program on this machine can send requests: one without the right state has no effect.
    if (request.method !== "GET" || url.pathname !== "/callback" || url.searchParams.get("state") !== state || done)
      return answer(response, 404, "There is nothing here.");
    done = true;
    redeem(url.searchParams).then(
      (tokens) => {
        answer(response, 200, "Signed in. You may close this page.");
        resolve(tokens);
      },
      (error: unknown) => {
        answer(response, 400, "The sign-in failed; the terminal says why. You may close this page.");
        reject(error);
      },
    );
  });
  await new Promise<void>((listening, failed) => server.once("error", failed).listen(0, "127.0.0.1", listening));
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  const redeem = async (query: URLSearchParams): Promise<Tokens> => {
    if (query.get("iss") !== issuer) throw new Error("the response comes from another server");
    const code = query.get("code");
    if (code === null)
      throw new Error(
        `the sign-in failed: ${plain(query.get("error_description") ?? query.get("error") ?? "no reason was given")}`,
      );
    const given = await tokenRequest(token, {
      grant_type: "authorization_code",
      code,
      redirect_uri: redirectUri,
      client_id: CLIENT,
      code_verifier: verifier,
    });
    if ("tokens" in given) return given.tokens;
    throw new Error(`the sign-in failed: ${plain(given.description)}`);
  };
  const timer = setTimeout(() => reject(new Error(`nobody signed in within ${timeoutMs / 60_000} minutes`)), timeoutMs);
  const url = new URL(authorize);
  url.search = new URLSearchParams({
    response_type: "code",
    client_id: CLIENT,
    redirect_uri: redirectUri,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    state,
    ...(identityProvider !== "" && { identity_provider: identityProvider }),
  }).toString();
  show(url.href);
  try {
    return await signedIn;
  } finally {
    clearTimeout(timer);
    server.close();
    server.closeIdleConnections();
  }
}

/** The client id of the command line. */
export const CLIENT = "moorage-cli";

function answer(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, {
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      connection: "close",
    })
    .end(`${text}\n`);
}
