import { randomUUID } from "node:crypto";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import type { CompletedPart, PutObjectCommandInput } from "@aws-sdk/client-s3";
import type { S3Clients } from "./s3-client.ts";
import { isConflict, isMissing, isUnsupported } from "./s3-errors.ts";

const CONTENT_TYPE = "application/octet-stream";

/** A multipart upload that this process started, and the mark on its object that says so. */
export interface StartedMultipart {
  uploadId: string;
  writer: string;
}

/** A write that is sent: to the key, and with that mark. `fresh`: it must not replace an object. */
interface Write {
  key: string;
  writer: string;
  fresh: boolean;
  send(ifNoneMatch: string | undefined): Promise<{ ETag?: string }>;
}

/** The writes to one bucket, as in `S3Bucket`. */
export class BucketWrites {
  readonly #clients: S3Clients;
  readonly #bucket: string;
  /**
   * Servers without conditional writes say so on the first one. From then on only the comparison of ETags before
   * assembling protects against concurrent writers.
   */
  #conditional = true;

  constructor(clients: S3Clients, bucket: string) {
    this.#clients = clients;
    this.#bucket = bucket;
  }

  put(key: string, body: Buffer, { fresh = false }: { fresh?: boolean } = {}): Promise<string> {
    const writer = randomUUID();
    const input: PutObjectCommandInput = {
      Bucket: this.#bucket,
      Key: key,
      Body: body,
      ContentLength: body.length,
      ContentType: CONTENT_TYPE,
      Metadata: { writer },
    };
    return this.#write({
      key,
      writer,
      fresh,
      send: (IfNoneMatch) => this.#clients.sender.send(new PutObjectCommand({ ...input, IfNoneMatch })),
    });
  }

  async startMultipart(key: string): Promise<StartedMultipart> {
    const writer = randomUUID();
    const { UploadId } = await this.#clients.client.send(
      new CreateMultipartUploadCommand({
        Bucket: this.#bucket,
        Key: key,
        ContentType: CONTENT_TYPE,
        Metadata: { writer },
      }),
      this.#clients.patience.write,
    );
    if (UploadId === undefined) throw new Error("the S3 server gave a multipart upload no id");
    return { uploadId: UploadId, writer };
  }

  completeMultipart(
    key: string,
    { uploadId, writer }: StartedMultipart,
    parts: CompletedPart[],
    { fresh = false }: { fresh?: boolean } = {},
  ): Promise<string> {
    const input = { Bucket: this.#bucket, Key: key, UploadId: uploadId, MultipartUpload: { Parts: parts } };
    return this.#write({
      key,
      writer,
      fresh,
      // The server may put the parts together before it answers.
      send: (IfNoneMatch) =>
        this.#clients.client.send(
          new CompleteMultipartUploadCommand({ ...input, IfNoneMatch }),
          this.#clients.patience.copy,
        ),
    });
  }

  async abortMultipart(key: string, uploadId: string): Promise<void> {
    await this.#clients.client
      .send(
        new AbortMultipartUploadCommand({ Bucket: this.#bucket, Key: key, UploadId: uploadId }),
        this.#clients.patience.write,
      )
      .catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
  }

  /**
   * Sends the write and returns the object's ETag. A retry after a lost response finds the object that its first
   * attempt created, and recognizes it by the writer's mark.
   */
  async #write(write: Write): Promise<string> {
    const { key, writer, fresh, send } = write;
    try {
      return (await send(fresh && this.#conditional ? "*" : undefined)).ETag ?? "";
    } catch (error) {
      if (fresh && this.#conditional && isUnsupported(error)) {
        this.#conditional = false;
        return this.#write(write);
      }
      if (!isConflict(error) && !isMissing(error)) throw error;
      const head = new HeadObjectCommand({ Bucket: this.#bucket, Key: key });
      const found = await this.#clients.client.send(head).catch(() => undefined);
      if (found?.Metadata?.["writer"] === writer) return found.ETag ?? "";
      throw error;
    }
  }
}
