import { awaitContinue, type Request, type Response } from "@moorage/kernel/core/http";
import { announcesBody } from "./body-deadline.ts";

/**
 * Sends `100 Continue` when the handler first reads the body, to a client that waits for it: who is rejected by the
 * head of the request, such as for want of a token, sends no body in vain. Source: RFC 9110 §10.1.1.
 */
export function continueWhenRead(request: Request, response: Response): void {
  if (!announcesBody(request.headers) && !("stream" in request)) return;
  const begun = awaitContinue(request);
  const keep = "stream" in response || "stream" in request ? undefined : closeUnlessRead(request, response);
  const read = request._read.bind(request);
  request._read = (size) => {
    request._read = read;
    begun();
    // What is read after the answer is dropped.
    if (!response.headersSent) {
      keep?.();
      response.writeContinue();
    }
    read(size);
  };
}

/**
 * Has the connection end with the answer, unless the function that it returns is called before. An HTTP/1.1 client that
 * gets its answer without `100 Continue` may send the body all the same, or go on with the next request: which of the
 * two the next bytes are, nobody can know.
 */
function closeUnlessRead(request: Exclude<Request, { stream: unknown }>, response: Http1Response): () => void {
  const { socket } = request;
  const { shouldKeepAlive } = response;
  const destroySoon = socket.destroySoon.bind(socket);
  response.shouldKeepAlive = false;
  // A socket that is destroyed while its client sends takes the answer from it. What is sent is read and dropped; the
  // port limits for how long.
  socket.destroySoon = () => void socket.end();
  const whole = (): void => destroySoon();
  request.once("end", whole);
  return () => {
    request.off("end", whole);
    socket.destroySoon = destroySoon;
    response.shouldKeepAlive = shouldKeepAlive;
  };
}

type Http1Response = Exclude<Response, { stream: unknown }>;
