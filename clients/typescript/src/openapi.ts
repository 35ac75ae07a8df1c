/** The ledger's requests, made from /openapi.json by `make client-types`, never by hand. */
export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * ApologyPermitRequest
         * @description The apology of an incident to a customer; each customer gets at most one.
         */
        ApologyPermitRequest: {
            /**
             * Redeem
             * @description Left out, it is false.
             */
            redeem?: boolean;
            /**
             * Dry Run
             * @description Left out, it is false.
             */
            dry_run?: boolean;
            override?: components["schemas"]["OverrideRequest"] | null;
            job?: components["schemas"]["JobLease"] | null;
            /** Cc */
            cc?: string[] | null;
            /** Metadata */
            metadata?: {
                [key: string]: string;
            } | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "apology";
            /** Incident Id */
            incident_id: string;
            /** Customer Id */
            customer_id: string;
        };
        /**
         * CorrectionRequest
         * @description A person's word that a mail reported as sent never went out; needs the scope `operate`.
         */
        CorrectionRequest: {
            /** By */
            by: string;
            /** Reason */
            reason: string;
        };
        /**
         * DigestRequest
         * @description The digest of an inbox for one day.
         *
         *     If both are given, `to` is an address of `customer_id`: mails to either count in one window.
         */
        DigestRequest: {
            /**
             * Redeem
             * @description Left out, it is false.
             */
            redeem?: boolean;
            /**
             * Dry Run
             * @description Left out, it is false.
             */
            dry_run?: boolean;
            override?: components["schemas"]["OverrideRequest"] | null;
            job?: components["schemas"]["JobLease"] | null;
            /** Cc */
            cc?: string[] | null;
            /** Metadata */
            metadata?: {
                [key: string]: string;
            } | null;
            /** Happened At */
            happened_at?: string | null;
            /** Not After */
            not_after?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "digest";
            /** Inbox Id */
            inbox_id: string;
            /**
             * Date
             * Format: date
             */
            date: string;
            /** Customer Id */
            customer_id?: string | null;
            /** To */
            to?: string | null;
            /** Thread Id */
            thread_id?: string | null;
        };
        /**
         * ExpectedState
         * @description The state that the sender expects an invoice to have.
         */
        ExpectedState: {
            /** Cycle */
            cycle?: number | null;
            /** Amount Remaining */
            amount_remaining?: number | null;
        };
        /**
         * FollowUpRequest
         * @description A numbered follow-up in a thread.
         *
         *     A new thread needs a `customer_id` or `to`; if both are given, the address is the customer's,
         *     and mails to either count in one window. For a known thread both are ignored.
         */
        FollowUpRequest: {
            /**
             * Redeem
             * @description Left out, it is false.
             */
            redeem?: boolean;
            /**
             * Dry Run
             * @description Left out, it is false.
             */
            dry_run?: boolean;
            override?: components["schemas"]["OverrideRequest"] | null;
            job?: components["schemas"]["JobLease"] | null;
            /** Cc */
            cc?: string[] | null;
            /** Metadata */
            metadata?: {
                [key: string]: string;
            } | null;
            /** Happened At */
            happened_at?: string | null;
            /** Not After */
            not_after?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "follow_up";
            /** Thread Id */
            thread_id: string;
            /** Step */
            step: number;
            /** Customer Id */
            customer_id?: string | null;
            /** To */
            to?: string | null;
        };
        /**
         * InvoiceSnapshot
         * @description An invoice's state in the billing system. A missing field is unchanged; null clears it.
         *
         *     An `amount_remaining` below zero says that too much was paid. `precision` is `second` where
         *     the source counts whole seconds, so that all that happened in the second of `observed_at` is in
         *     the snapshot. `payment_in_flight` false says that no payment is on its way any more.
         */
        InvoiceSnapshot: {
            /** Customer Id */
            customer_id?: string | null;
            /** Email */
            email?: string | null;
            /** Currency */
            currency: string;
            /** Total */
            total: number;
            /** Amount Remaining */
            amount_remaining: number;
            /**
             * Status
             * @enum {string}
             */
            status: "draft" | "open" | "paid" | "void" | "uncollectible";
            /** Issued On */
            issued_on?: string | null;
            /** Due On */
            due_on?: string | null;
            /** Time Zone */
            time_zone?: string | null;
            /** Observed At */
            observed_at?: string | null;
            /** Version */
            version?: number | null;
            /**
             * Precision
             * @description Left out, it is "instant".
             * @enum {string}
             */
            precision?: "instant" | "second";
            /** Payment In Flight */
            payment_in_flight?: false | null;
            /** Metadata */
            metadata?: {
                [key: string]: string;
            } | null;
        };
        /**
         * JobLease
         * @description The job lease that a request for a permit names.
         */
        JobLease: {
            /** Name */
            name: string;
            /** Token */
            token: number;
        };
        /**
         * MailReportData
         * @description What the report of a mail system tells (RFC 3464, RFC 8098), where its parts are known.
         *
         *     `about` is the Message-ID of the mail that the report is about, `recipient` the one of its
         *     recipients that it speaks of (default: the address that the permit was granted to), and `status`
         *     the code of RFC 3463: `4.…` gave this mail up and holds no address.
         */
        MailReportData: {
            /**
             * Type
             * @enum {string}
             */
            type: "delivery-status" | "disposition-notification";
            /** Action */
            action?: ("failed" | "delayed" | "delivered" | "relayed" | "expanded") | null;
            /** About */
            about?: string | null;
            /** Recipient */
            recipient?: string | null;
            /** Status */
            status?: string | null;
        };
        /**
         * MessageRequest
         * @description A message with an intent; each intent is allowed once in a thread.
         *
         *     A new thread needs a `customer_id` or `to`; if both are given, the address is the customer's,
         *     and mails to either count in one window. For a known thread both are ignored.
         */
        MessageRequest: {
            /**
             * Redeem
             * @description Left out, it is false.
             */
            redeem?: boolean;
            /**
             * Dry Run
             * @description Left out, it is false.
             */
            dry_run?: boolean;
            override?: components["schemas"]["OverrideRequest"] | null;
            job?: components["schemas"]["JobLease"] | null;
            /** Cc */
            cc?: string[] | null;
            /** Metadata */
            metadata?: {
                [key: string]: string;
            } | null;
            /** Happened At */
            happened_at?: string | null;
            /** Not After */
            not_after?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "message";
            /** Thread Id */
            thread_id: string;
            /** Intent */
            intent: string;
            /** Customer Id */
            customer_id?: string | null;
            /** To */
            to?: string | null;
        };
        /**
         * NotificationRequest
         * @description A notice about one business event.
         *
         *     If both are given, `to` is an address of `customer_id`: mails to either count in one window.
         */
        NotificationRequest: {
            /**
             * Redeem
             * @description Left out, it is false.
             */
            redeem?: boolean;
            /**
             * Dry Run
             * @description Left out, it is false.
             */
            dry_run?: boolean;
            override?: components["schemas"]["OverrideRequest"] | null;
            job?: components["schemas"]["JobLease"] | null;
            /** Cc */
            cc?: string[] | null;
            /** Metadata */
            metadata?: {
                [key: string]: string;
            } | null;
            /** Happened At */
            happened_at?: string | null;
            /** Not After */
            not_after?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "notification";
            /** Event Type */
            event_type: string;
            /** Event Id */
            event_id: string;
            /** Customer Id */
            customer_id?: string | null;
            /** To */
            to?: string | null;
            /** Thread Id */
            thread_id?: string | null;
            /** Subscription Id */
            subscription_id?: string | null;
        };
        /**
         * OutcomeRequest
         * @description The outcome of the mail.
         *
         *     A `correction` goes with `rejected` and corrects a false `sent`; it is refused where a delivery
         *     event says that the mail went out.
         */
        OutcomeRequest: {
            /**
             * Outcome
             * @enum {string}
             */
            outcome: "sent" | "rejected" | "unknown";
            /** Provider */
            provider?: string | null;
            /** Provider Message Id */
            provider_message_id?: string | null;
            /** Message Id */
            message_id?: string | null;
            /** Detail */
            detail?: string | null;
            correction?: components["schemas"]["CorrectionRequest"] | null;
            /** Metadata */
            metadata?: {
                [key: string]: string;
            } | null;
        };
        /**
         * OverrideRequest
         * @description A deliberate repeat, decided by a person; needs the scope `operate`.
         */
        OverrideRequest: {
            /** Action Id */
            action_id: string;
            /** By */
            by: string;
            /** Reason */
            reason: string;
        };
        /**
         * PaymentFailedRequest
         * @description The mail about a failed payment.
         */
        PaymentFailedRequest: {
            /**
             * Redeem
             * @description Left out, it is false.
             */
            redeem?: boolean;
            /**
             * Dry Run
             * @description Left out, it is false.
             */
            dry_run?: boolean;
            override?: components["schemas"]["OverrideRequest"] | null;
            job?: components["schemas"]["JobLease"] | null;
            /** Cc */
            cc?: string[] | null;
            /** Metadata */
            metadata?: {
                [key: string]: string;
            } | null;
            /** Facts */
            facts?: {
                [key: string]: components["schemas"]["InvoiceSnapshot"];
            } | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "payment_failed";
            /** Invoice Id */
            invoice_id: string;
            /** Event Id */
            event_id: string;
            /** Attempt Id */
            attempt_id?: string | null;
            /** Subscription Id */
            subscription_id?: string | null;
        };
        PermitRequest: components["schemas"]["ReminderRequest"] | components["schemas"]["PaymentFailedRequest"] | components["schemas"]["ReplyRequest"] | components["schemas"]["NotificationRequest"] | components["schemas"]["DigestRequest"] | components["schemas"]["FollowUpRequest"] | components["schemas"]["MessageRequest"] | components["schemas"]["ApologyPermitRequest"];
        /**
         * ReminderRequest
         * @description A reminder for one or more invoices of one customer.
         */
        ReminderRequest: {
            /**
             * Redeem
             * @description Left out, it is false.
             */
            redeem?: boolean;
            /**
             * Dry Run
             * @description Left out, it is false.
             */
            dry_run?: boolean;
            override?: components["schemas"]["OverrideRequest"] | null;
            job?: components["schemas"]["JobLease"] | null;
            /** Cc */
            cc?: string[] | null;
            /** Metadata */
            metadata?: {
                [key: string]: string;
            } | null;
            /** Facts */
            facts?: {
                [key: string]: components["schemas"]["InvoiceSnapshot"];
            } | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "reminder";
            /** Invoices */
            invoices: string[];
            /** Stage */
            stage?: string | null;
            /** Expected */
            expected?: {
                [key: string]: components["schemas"]["ExpectedState"];
            } | null;
        };
        /**
         * ReplyRequest
         * @description A reply to an inbound message, which the request may embed as a fact.
         */
        ReplyRequest: {
            /**
             * Redeem
             * @description Left out, it is false.
             */
            redeem?: boolean;
            /**
             * Dry Run
             * @description Left out, it is false.
             */
            dry_run?: boolean;
            override?: components["schemas"]["OverrideRequest"] | null;
            job?: components["schemas"]["JobLease"] | null;
            /** Cc */
            cc?: string[] | null;
            /** Metadata */
            metadata?: {
                [key: string]: string;
            } | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "reply";
            /** Thread Id */
            thread_id: string;
            /** In Reply To */
            in_reply_to: string;
            message?: components["schemas"]["ThreadMessageData"] | null;
            /** Customer Id */
            customer_id?: string | null;
            /** To */
            to?: string | null;
        };
        /**
         * ThreadMessageData
         * @description `thread.message`; headers and return path show whether a machine or a person wrote it.
         *
         *     A reply is addressed to `reply_to` (default: the header `Reply-To`), else to `from`.
         *     `customer_id` names the owner of the correspondent's address: of the reply address in an inbound
         *     message, of `to` in an outbound one. An outbound message without a permit answers the messages
         *     that it references. `reports` are those on further recipients of one mail.
         */
        ThreadMessageData: {
            /** Thread Id */
            thread_id: string;
            /** Message Id */
            message_id: string;
            /**
             * Direction
             * @enum {string}
             */
            direction: "inbound" | "outbound";
            /** From */
            from?: string | null;
            /** To */
            to?: string | null;
            /** Reply To */
            reply_to?: string | null;
            /** Customer Id */
            customer_id?: string | null;
            /** At */
            at?: string | null;
            /** References */
            references?: string[] | null;
            /** Headers */
            headers?: {
                [key: string]: string;
            } | null;
            /** Return Path */
            return_path?: string | null;
            report?: components["schemas"]["MailReportData"] | null;
            /** Reports */
            reports?: components["schemas"]["MailReportData"][] | null;
            /** Metadata */
            metadata?: {
                [key: string]: string;
            } | null;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
