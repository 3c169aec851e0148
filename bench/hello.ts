// The limit of the runtime: the least that node:http does for a request. PORT is the only argument.
import { createServer } from "node:http";

createServer((_, response) => {
  response.writeHead(200, { "content-type": "text/plain", "content-length": "5" }).end("hello");
}).listen(Number(process.argv[2]), "127.0.0.1");
