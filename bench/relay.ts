// Forwards HTTP requests and adds an Authorization header: zot's zb supports only Basic. The arguments are the port to
// listen on, the registry's port, and the header's value.
import { Agent, createServer, request } from "node:http";

const [port, registryPort, authorization = ""] = process.argv.slice(2);
const REQUEST_TIMEOUT_MS = 30_000;
const agent = new Agent({ keepAlive: true });

createServer((incoming, answer) => {
  const onward = request({
    agent,
    host: "127.0.0.1",
    port: Number(registryPort),
    method: incoming.method,
    path: incoming.url,
    headers: { ...incoming.headers, authorization },
    timeout: REQUEST_TIMEOUT_MS,
  });
  onward.on("response", (response) => {
    answer.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(answer);
  });
  onward.on("timeout", () => onward.destroy());
  onward.on("error", () => answer.destroy());
  incoming.pipe(onward);
}).listen(Number(port), "127.0.0.1");
