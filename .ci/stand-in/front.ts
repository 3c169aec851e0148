// A registry by its own name, over TLS: node front.ts FOLDER NAME ADDRESS PORT passes requests on to a registry at that
// port of loopback, and writes a line for each to FOLDER/NAME.asked: who asks, and for what. While FOLDER/NAME.limited
// exists, it answers 429.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:https";
import { join } from "node:path";

const [folder = "", name = "", address = "", port = ""] = process.argv.slice(2);
const at = (file: string): string => join(folder, file);

const server = createServer({ cert: readFileSync(at("cert.pem")), key: readFileSync(at("key.pem")) }, (req, res) => {
  appendFileSync(at(`${name}.asked`), `${req.headers["user-agent"] ?? "-"} ${req.method} ${req.url}\n`);
  if (existsSync(at(`${name}.limited`))) {
    // podman and skopeo wait so long, several times; the server asks again sooner when it is less.
    res.writeHead(429, { "retry-after": "2", "content-type": "application/json" });
    res.end('{"errors": [{"code": "TOOMANYREQUESTS", "message": "too many pulls"}]}');
    return;
  }
  const { method, url, headers } = req;
  const asked = request({ host: "127.0.0.1", port, method, path: url, headers }, (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(res);
  });
  asked.on("error", () => res.destroy());
  req.pipe(asked);
});
server.listen(443, address, () => console.log("listening"));
