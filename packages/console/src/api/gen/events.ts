// Written by `npm run generate` out of proto/: change it there.
import { method } from "../method.ts";

export interface GetDeliveryRequest {
  uid?: string;
}
export interface Delivery {
  uid: string;
  eventId: string;
  eventType: string;
  eventSubject: string;
  state: DeliveryState;
  tries: number;
  lastStatus: number;
  lastError: string;
  lastLatency?: string;
  nextTryTime?: string;
  createTime?: string;
  updateTime?: string;
  attempts: DeliveryAttempt[];
}
export type DeliveryState =
  | "DELIVERY_STATE_UNSPECIFIED"
  | "DELIVERY_STATE_PENDING"
  | "DELIVERY_STATE_SENDING"
  | "DELIVERY_STATE_RETRYING"
  | "DELIVERY_STATE_DELIVERED"
  | "DELIVERY_STATE_DEAD";
export interface DeliveryAttempt {
  startTime?: string;
  latency?: string;
  status: number;
  error: string;
}
export interface ListDeliveriesRequest {
  uidp?: UIDPFilterInput;
  state?: DeliveryState;
  eventId?: string;
  eventType?: string;
  startTime?: string;
  endTime?: string;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
}
export interface UIDPFilterInput {
  ancestorsOf?: string;
  descendantsOf?: string;
  childrenOf?: string;
  inRoot?: boolean;
  ids?: string[];
}
export interface ListDeliveriesResponse {
  deliveries: Delivery[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface RedeliverEventRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface ListEventsRequest {
  group?: string;
  cursor?: string;
  pageSize?: number;
  typePrefixes?: string[];
  subjectPrefixes?: string[];
  taggedOnly?: boolean;
}
export interface ListEventsResponse {
  events: Event[];
  nextCursor: string;
  more: boolean;
}
export interface Event {
  specversion: string;
  id: string;
  source: string;
  type: string;
  subject: string;
  time?: string;
  datacontenttype: string;
  data?: Record<string, unknown>;
  group: string;
  audience: string;
  actor: string;
  sequence: string;
}
export interface GetSubscriptionRequest {
  uid?: string;
}
export interface Subscription {
  uid: string;
  sink: string;
  state: SubscriptionState;
  stateReason: string;
  typePrefixes: string[];
  subjectPrefixes: string[];
  secret: string;
  oldSecretExpireTime?: string;
  allowedRate: number;
  createTime?: string;
  updateTime?: string;
  taggedOnly: boolean;
}
export type SubscriptionState =
  | "SUBSCRIPTION_STATE_UNSPECIFIED"
  | "SUBSCRIPTION_STATE_ACTIVE"
  | "SUBSCRIPTION_STATE_PAUSED"
  | "SUBSCRIPTION_STATE_DISABLED";
export interface ListSubscriptionsRequest {
  uidp?: UIDPFilterInput;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
}
export interface ListSubscriptionsResponse {
  subscriptions: Subscription[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface CreateSubscriptionRequest {
  parent?: string;
  subscription?: SubscriptionInput;
  validateOnly?: boolean;
}
export interface SubscriptionInput {
  uid?: string;
  sink?: string;
  state?: SubscriptionState;
  stateReason?: string;
  typePrefixes?: string[];
  subjectPrefixes?: string[];
  secret?: string;
  oldSecretExpireTime?: string;
  allowedRate?: number;
  createTime?: string;
  updateTime?: string;
  taggedOnly?: boolean;
}
export interface DeleteSubscriptionRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface PauseSubscriptionRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface ResumeSubscriptionRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface RotateSubscriptionSecretRequest {
  uid?: string;
  overlap?: string;
  validateOnly?: boolean;
}
export interface TestSubscriptionRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface TestSubscriptionResponse {
  eventId: string;
}
export interface RedeliverEventsRequest {
  uid?: string;
  startTime?: string;
  endTime?: string;
  states?: DeliveryState[];
  validateOnly?: boolean;
}
export interface RedeliverEventsResponse {
  count: number;
  nextStartTime?: string;
}
export const getDelivery = method<GetDeliveryRequest, Delivery>("GET", "/events/v2/deliveries/{uid=**}", "");
export const listDeliveries = method<ListDeliveriesRequest, ListDeliveriesResponse>("GET", "/events/v2/deliveries", "");
export const redeliverEvent = method<RedeliverEventRequest, Delivery>(
  "POST",
  "/events/v2/deliveries/{uid=**}:redeliver",
  "*",
);
export const listEvents = method<ListEventsRequest, ListEventsResponse>("GET", "/events/v2/events", "");
export const getSubscription = method<GetSubscriptionRequest, Subscription>(
  "GET",
  "/events/v2/subscriptions/{uid=**}",
  "",
);
export const listSubscriptions = method<ListSubscriptionsRequest, ListSubscriptionsResponse>(
  "GET",
  "/events/v2/subscriptions",
  "",
);
export const createSubscription = method<CreateSubscriptionRequest, Subscription>(
  "POST",
  "/events/v2/subscriptions/{parent=**}",
  "subscription",
);
export const deleteSubscription = method<DeleteSubscriptionRequest, Record<string, never>>(
  "DELETE",
  "/events/v2/subscriptions/{uid=**}",
  "",
);
export const pauseSubscription = method<PauseSubscriptionRequest, Subscription>(
  "POST",
  "/events/v2/subscriptions/{uid=**}:pause",
  "*",
);
export const resumeSubscription = method<ResumeSubscriptionRequest, Subscription>(
  "POST",
  "/events/v2/subscriptions/{uid=**}:resume",
  "*",
);
export const rotateSubscriptionSecret = method<RotateSubscriptionSecretRequest, Subscription>(
  "POST",
  "/events/v2/subscriptions/{uid=**}:rotateSecret",
  "*",
);
export const testSubscription = method<TestSubscriptionRequest, TestSubscriptionResponse>(
  "POST",
  "/events/v2/subscriptions/{uid=**}:test",
  "*",
);
export const redeliverEvents = method<RedeliverEventsRequest, RedeliverEventsResponse>(
  "POST",
  "/events/v2/subscriptions/{uid=**}:redeliver",
  "*",
);
