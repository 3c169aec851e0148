// The image's health check: ends with 0 when the server in this container serves requests. A slim image has no curl.
import { get as getClear } from "node:http";
import { get as getSecure } from "node:https";

const TIMEOUT_MS = 3_000;

const { MOORAGE_PORT, MOORAGE_TLS_CERT } = process.env;
const get = MOORAGE_TLS_CERT ? getSecure : getClear;
// The certificate is made out to the name that clients use, not to loopback.
const request = get({ host: "127.0.0.1", port: MOORAGE_PORT || 8080, path: "/readyz", rejectUnauthorized: false, timeout: TIMEOUT_MS }, (response) => {
  response.resume();
  process.exitCode = response.statusCode === 200 ? 0 : 1;
  response.on("end", () => process.exit());
});
request.on("timeout", () => request.destroy(new Error("no answer")));
request.on("error", () => process.exit(1));
