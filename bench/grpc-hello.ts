// The throughput of grpc-js for a unary call without any work. PORT is the only argument.
import { Server, ServerCredentials } from "@grpc/grpc-js";

const same = (bytes: Buffer): Buffer => bytes;
const method = {
  path: "/bench.Hello/Say",
  requestStream: false,
  responseStream: false,
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
};
const hello = Buffer.from("hello");

const server = new Server();
server.addService(
  { say: method },
  { say: (_: unknown, callback: (error: null, answer: Buffer) => void) => callback(null, hello) },
);
server.bindAsync(`127.0.0.1:${process.argv[2]}`, ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
});
