import { type ApiError, errorOf, noAnswer } from "./errors.ts";
import { type Method, targetOf } from "./method.ts";
import { accessToken, forgetToken } from "./session.ts";

const TIMEOUT_MS = 60_000;

/** Options of a call. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
}

/** Calls a method of the platform API as whoever is signed in. Throws an ApiError. */
export async function call<Input extends object, Output>(
  method: Method<Input, Output>,
  input: Input,
  { signal }: CallOptions = {},
): Promise<Output> {
  const { url, body } = targetOf(method, input);
  const response = await request(url, {
    method: method.verb,
    ...(body !== undefined && { body, headers: { "content-type": "application/json" } }),
    signal,
  });
  // Methods that answer nothing, such as deletions, answer an empty body.
  const text = await response.text();
  return (text === "" ? {} : JSON.parse(text)) as Output;
}

/** What a request has beside its URL. */
export interface RequestOptions {
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
  signal?: AbortSignal | undefined;
}

/**
 * Sends a request to this server with the session's access token. A token that has ended is replaced once. Throws an
 * ApiError for every answer that is not a success.
 */
export async function request(url: string, options: RequestOptions = {}): Promise<Response> {
  const first = await send(url, options);
  if (first.ok) return first;
  if (first.status !== 401) throw await errorOf(first);
  forgetToken();
  const second = await send(url, options);
  if (second.ok) return second;
  throw await errorOf(second);
}

async function send(url: string, { signal, headers, ...options }: RequestOptions): Promise<Response> {
  const authorization = `Bearer ${await accessToken()}`;
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await fetch(url, {
      ...options,
      headers: { ...headers, authorization },
      credentials: "omit",
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw noAnswer();
  }
}

/** Whether the error is an answer of that code. */
export function isCode(error: unknown, code: string): error is ApiError {
  return error instanceof Error && error.name === "ApiError" && (error as ApiError).code === code;
}
