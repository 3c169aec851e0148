// Where registries trade a name and a password for a token of their own.
import { interruption } from "../command/interrupt.ts";
import { send } from "../http/http.ts";
import { readAnswer } from "./authorization.ts";

const TIMEOUT_MS = 30_000;

/** Sends a name and a password as JSON. Returns the status, and the JSON of the answer where it has any. */
export async function logIn(url: string, body: object): Promise<{ status: number; answer: unknown }> {
  const response = await send(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), interruption()]),
  });
  const answer = await readAnswer(response);
  await response.body?.cancel().catch(() => {});
  return { status: response.status, answer };
}
