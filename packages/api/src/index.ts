// Everything that a client needs: messages, services, the client and its errors.
export * from "./messages.ts";
export { type ClientOptions, createClient, type MoorageClient, type ServiceClient } from "./client/client.ts";
export { type Credentials, exchangeCredentials, type ExchangeOptions } from "./client/credentials.ts";
export { ApiError, type FieldViolation, type PreconditionViolation } from "./client/errors.ts";
export type { Listed } from "./client/paging.ts";
export type { RetryOptions } from "./client/retry.ts";
export { Code } from "@connectrpc/connect";
