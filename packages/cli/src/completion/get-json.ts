// Requests of completion. Node's `fetch` takes longer to load than the whole of an answer may; its `http` does not.
import type { IncomingMessage } from "node:http";
import type { JsonObject } from "../api/failure.ts";

const MAX_BYTES = 8 << 20;

/** Gets a JSON object. Throws an Error for any other answer. */
export async function getJson(url: string, token: string, signal: AbortSignal): Promise<JsonObject> {
  const { request } = url.startsWith("https:") ? await import("node:https") : await import("node:http");
  const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
  const headers = { authorization: `Bearer ${token}`, accept: "application/json" };
  request(url, { headers, signal }, (response: IncomingMessage) => {
    let text = "";
    response.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      if (text.length > MAX_BYTES) response.destroy(new Error("the answer is too long"));
    });
    response.on("error", reject).on("end", () => {
      if (response.statusCode !== 200) return void reject(new Error(`status ${response.statusCode}`));
      try {
        resolve(JSON.parse(text) as JsonObject);
      } catch (cause) {
        reject(new Error("the answer is no JSON", { cause }));
      }
    });
  })
    .on("error", reject)
    .end();
  return promise;
}
