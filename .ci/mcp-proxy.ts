// Passes requests on to a server with the token of MOORAGE_TOKEN, for programs that cannot send one. Prints its URL.
//   node .ci/mcp-proxy.ts <port of the server> <port to listen at>
import { createServer, request } from "node:http";

const [, , target = "", port = ""] = process.argv;
createServer((incoming, outgoing) => {
  const headers = { ...incoming.headers, authorization: `Bearer ${process.env["MOORAGE_TOKEN"]}` };
  const passed = request({ host: "127.0.0.1", port: target, method: incoming.method, path: incoming.url, headers });
  passed.on("response", (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  passed.on("error", () => outgoing.destroy());
  incoming.pipe(passed);
}).listen(Number(port), "127.0.0.1", () => console.log(`http://localhost:${port}`));
