import {
  type CheckScannerRequest,
  type CreateScannerRequest,
  type CreateSubscriptionRequest,
  type ExchangeRefreshTokenRequest,
  type ExchangeRequest,
  ScannersService,
  SecurityTokenService,
  SubscriptionsService,
  type UpdateScannerRequest,
} from "@moorage/api/messages";
import { type Auditor, createAuditor } from "@moorage/kernel/audit";
import type { Config } from "@moorage/kernel/config";
import type { Clock } from "@moorage/kernel/lib/clock";
import { blockMetrics, type BlockRecorder, createBlockRecorder } from "@moorage/libraries/libraries";
import { type Access, createAccess, createSecurityTokenService } from "@moorage/platform/auth";
import { createSinkCheck } from "@moorage/platform/events";
import { createScannerChecks } from "@moorage/security/security";
import type { Logger } from "pino";
import { createDispatch, type Dispatch, type MethodCheck, type OutsideMethod } from "../runtime/dispatch.ts";
import { type Method, nameOf } from "../runtime/methods.ts";
import { blobReader } from "../runtime/read-blob.ts";
import { v1Methods } from "../v1/index.ts";
import { gateAhead } from "./gate-ahead.ts";
import type { Base } from "./base.ts";
import { type LargeWork, openLargeWork } from "./large-work.ts";
import type { Shutdown } from "./shutdown.ts";
import type { Storage } from "./storage.ts";

/** Authentication, authorization, and every method of the API. */
export interface Api {
  auditor: Auditor;
  /** Records what policies of libraries block. */
  blocks: BlockRecorder;
  access: Access;
  dispatch: Dispatch;
  large: LargeWork;
  /** The methods of all versions. */
  allMethods: Map<string, Method>;
}

export function openApi(
  config: Config,
  base: Base,
  storage: Storage,
  { clock, log }: { clock: Clock; log: Logger },
  shutdown: Shutdown,
): Api {
  const {
    observation,
    store: { reader },
    secrets,
  } = base;
  const { blobs, methods, admins, transactor } = storage;
  const large = openLargeWork(config, base, storage, log, shutdown);
  const auditor = createAuditor({ writer: transactor, clock, log, dropped: observation.audit.dropped });
  shutdown.at("auditor", () => auditor.close());
  const blocks = createBlockRecorder({ writer: transactor, clock, log, metrics: observation.of(blockMetrics) });
  shutdown.at("auditor", () => blocks.close());
  const access = createAccess({ config, reader, writer: transactor, secrets, auditor, log });
  shutdown.at("auditor", () => access.exchanger.close());
  shutdown.at("auditor", () => access.personalTokens.close());
  const sts = createSecurityTokenService(access.exchanger);
  const checkSink = createSinkCheck(config);
  const scanners = createScannerChecks({ transactor, secrets, config });
  const allMethods = new Map([...methods, ...v1Methods({ readBlob: blobReader(blobs) })]);
  const dispatch = createDispatch({
    methods: allMethods,
    reader,
    transactor,
    admins,
    auditor,
    large: large.answers,
    checks: new Map<string, MethodCheck>([
      [
        nameOf(SubscriptionsService.method.createSubscription),
        (_, request) => checkSink(request as CreateSubscriptionRequest),
      ],
      [nameOf(ScannersService.method.createScanner), (_, request) => scanners.create(request as CreateScannerRequest)],
      [
        nameOf(ScannersService.method.updateScanner),
        (data, request) => scanners.update(data, request as UpdateScannerRequest),
      ],
      [
        nameOf(ScannersService.method.checkScanner),
        (data, request) => scanners.check(data, request as CheckScannerRequest),
      ],
    ]),
    readAhead: gateAhead(transactor),
    outside: new Map<string, OutsideMethod>([
      [
        nameOf(SecurityTokenService.method.exchange),
        (data, request, authorization) => sts.exchange(data, request as ExchangeRequest, authorization),
      ],
      [
        nameOf(SecurityTokenService.method.exchangeRefreshToken),
        (data, request, authorization) =>
          sts.exchangeRefreshToken(data, request as ExchangeRefreshTokenRequest, authorization),
      ],
    ]),
  });
  return { auditor, blocks, access, dispatch, allMethods, large };
}
