// A small OCI client: enough of the distribution specification 1.1 to push and pull, with the token protocol.
import { certificateHint } from "../http/certificates.ts";
import { endOf } from "../claims.ts";
import { EXIT, exitOfStatus } from "../command/exit-codes.ts";
import { Failure } from "../command/failure.ts";
import { parseChallenge } from "./challenge.ts";
import { digestOf, MEDIA_TYPE, type Content, type MultiImage } from "./image.ts";

const REQUEST_TIMEOUT_MS = 30_000;
const MANIFEST_MAX_BYTES = 4 * 1024 * 1024;
const BLOB_MAX_BYTES = 64 * 1024 * 1024;
const CACHED_TOKENS_MAX = 100;

/** An unexpected response of a registry. */
export class RegistryError extends Failure {
  readonly status: number;
  /** The first OCI error code in the body, such as `DENIED`; "" without one. */
  readonly code: string;

  constructor(action: string, status: number, code: string, message: string) {
    super(`${action}: HTTP ${status}${code ? ` ${code}` : ""}${message ? `: ${message}` : ""}`, {
      exit: exitOfStatus(status) || EXIT.error,
    });
    this.status = status;
    this.code = code;
  }
}

/**
 * The registry's URL, and the user and password for its token endpoint. The password of the default user is a platform
 * token; without a password, requests are anonymous.
 */
export type RegistryOptions = { readonly url: string; readonly user?: string; readonly password?: string };

/**
 * The calls of the client. Each throws RegistryError on an unexpected status and Error on a digest that does not match.
 */
export type Registry = {
  /** Pushes the image's blobs, manifests and index, and sets `tag`. Returns the index's digest. */
  pushImage(repository: string, tag: string, image: MultiImage): Promise<string>;
  /** Reads a manifest or index by tag or digest and checks the bytes against the digest. */
  pullManifest(repository: string, reference: string): Promise<Content>;
  /** Reads a blob by its digest and checks it. */
  pullBlob(repository: string, digest: string): Promise<Content>;
  /** GET below `/v2/<repository>/`, such as `_service/history/latest`, as JSON. */
  getJson(repository: string, path: string): Promise<unknown>;
};

type Send = { method?: string; headers?: Record<string, string>; body?: Buffer; accept?: readonly number[] };

/** Fetches. Throws an Error that says which server does not answer, and why. */
async function ask(url: URL, init: RequestInit): Promise<Response> {
  return fetch(url, init).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const why = cause instanceof Error ? cause.message : String(cause);
    const hint = certificateHint(error);
    throw new Failure(`${url.origin} does not answer: ${why}`, {
      exit: EXIT.unavailable,
      cause: error,
      ...(hint && { hint }),
    });
  });
}

async function failure(action: string, response: Response): Promise<RegistryError> {
  const text = await response.text();
  try {
    const { errors } = JSON.parse(text) as { errors?: { code?: string; message?: string }[] };
    return new RegistryError(action, response.status, errors?.[0]?.code ?? "", errors?.[0]?.message ?? "");
  } catch {
    return new RegistryError(action, response.status, "", ""); // not the JSON of a registry: only the status is known
  }
}

async function readBounded(response: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`the registry sent more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function verified(piece: Content, digest: string): Content {
  if (piece.digest !== digest) throw new Error(`the registry sent ${piece.digest} for ${digest}`);
  return piece;
}

/** Opens a client for a registry; tokens are requested when the registry requires them, and cached for each scope. */
export function openRegistry({ url, user = "moorage", password }: RegistryOptions): Registry {
  const tokens = new Map<string, string>();

  async function fetchToken(challenge: { realm: string; service: string; scope: string }): Promise<string> {
    const target = new URL(challenge.realm);
    target.searchParams.set("service", challenge.service);
    if (challenge.scope) target.searchParams.set("scope", challenge.scope);
    const headers =
      password === undefined ? {} : { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` };
    const response = await ask(target, { headers, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
    if (!response.ok) {
      const end = response.status === 401 && password !== undefined ? endOf(password) : undefined;
      if (end === undefined) throw await failure("token", response);
      await response.body?.cancel();
      throw new RegistryError(
        "token",
        response.status,
        "UNAUTHORIZED",
        `the password is a token that expired at ${end}`,
      );
    }
    return ((await response.json()) as { token: string }).token;
  }

  async function send(
    repository: string,
    path: string,
    { method = "GET", headers = {}, body, accept = [200] }: Send,
  ): Promise<Response> {
    const target = new URL(path, `${url}/v2/${repository}/`);
    const kind = `${repository} ${method === "GET" || method === "HEAD" ? "pull" : "push"}`;
    for (let attempt = 0; ; attempt += 1) {
      const token = tokens.get(kind);
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
      const response = await ask(target, {
        method,
        headers: { ...headers, ...authorization },
        body: body ? new Uint8Array(body) : null,
        signal,
      });
      if (accept.includes(response.status)) return response;
      const challenge =
        response.status === 401 && attempt === 0 ? parseChallenge(response.headers.get("www-authenticate")) : undefined;
      if (challenge === undefined) throw await failure(`${method} ${target.pathname}`, response);
      await response.body?.cancel();
      if (tokens.size >= CACHED_TOKENS_MAX) tokens.clear();
      tokens.set(kind, await fetchToken(challenge));
    }
  }

  async function pushBlob(repository: string, blob: Content): Promise<void> {
    // The answer to a HEAD has no body, so a rejection is left to the request that follows, whose answer says why.
    const isThere = await send(repository, `blobs/${blob.digest}`, { method: "HEAD" }).then(
      () => true,
      (error: unknown) => {
        if (error instanceof RegistryError) return false;
        throw error;
      },
    );
    if (isThere) return;
    const started = await send(repository, "blobs/uploads/", { method: "POST", accept: [202] });
    const target = new URL(started.headers.get("location") ?? "", `${url}/v2/${repository}/blobs/uploads/`);
    target.searchParams.set("digest", blob.digest);
    await send(repository, target.href, {
      method: "PUT",
      headers: { "content-type": "application/octet-stream" },
      body: blob.bytes,
      accept: [201],
    });
  }

  async function pushManifest(repository: string, reference: string, manifest: Content): Promise<void> {
    const headers = { "content-type": manifest.mediaType };
    await send(repository, `manifests/${reference}`, { method: "PUT", headers, body: manifest.bytes, accept: [201] });
  }

  return {
    async pushImage(repository, tag, { images, index }) {
      for (const { blobs, manifest } of images) {
        await Promise.all(blobs.map((blob) => pushBlob(repository, blob)));
        await pushManifest(repository, manifest.digest, manifest);
      }
      await pushManifest(repository, tag, index);
      return index.digest;
    },
    async pullManifest(repository, reference) {
      const headers = { accept: `${MEDIA_TYPE.index}, ${MEDIA_TYPE.manifest}` };
      const response = await send(repository, `manifests/${reference}`, { headers });
      const bytes = await readBounded(response, MANIFEST_MAX_BYTES);
      const piece = { mediaType: response.headers.get("content-type") ?? "", digest: digestOf(bytes), bytes };
      const expected = reference.includes(":") ? reference : response.headers.get("docker-content-digest");
      return expected === null ? piece : verified(piece, expected);
    },
    async pullBlob(repository, digest) {
      const response = await send(repository, `blobs/${digest}`, {});
      const bytes = await readBounded(response, BLOB_MAX_BYTES);
      return verified(
        { mediaType: response.headers.get("content-type") ?? "", digest: digestOf(bytes), bytes },
        digest,
      );
    },
    async getJson(repository, path) {
      return (await send(repository, path, {})).json();
    },
  };
}
