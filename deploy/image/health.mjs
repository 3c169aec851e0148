// The image's health check: ends with 0 when the server in this container has started, and a restart would not help it.
// A slim image has no curl.
import { get as getClear } from "node:http";
import { get as getSecure } from "node:https";

const TIMEOUT_MS = 3_000;
const STARTING = "not ready: the server is starting";

const { MOORAGE_PORT, MOORAGE_TLS_CERT } = process.env;
const get = MOORAGE_TLS_CERT ? getSecure : getClear;

function ask(path) {
  const { promise, resolve, reject } = Promise.withResolvers();
  // The certificate is made out to the name that clients use, not to loopback.
  const options = { host: "127.0.0.1", port: MOORAGE_PORT || 8080, path, rejectUnauthorized: false, timeout: TIMEOUT_MS };
  const request = get(options, (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (part) => (text += part));
    response.on("end", () => resolve({ status: response.statusCode, text })).on("error", reject);
  });
  request.on("timeout", () => request.destroy(new Error("no answer"))).on("error", reject);
  return promise;
}

try {
  const [healthz, readyz] = [await ask("/healthz"), await ask("/readyz")];
  process.exit(healthz.status === 200 && readyz.text !== STARTING ? 0 : 1);
} catch {
  process.exit(1);
}
