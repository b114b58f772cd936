/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grpc_end.cc - streams over gRPC's callback interface. Framing, TLS, flow control and threads are gRPC's;
 * what is here is a queue of events for the one thread of the host, and messages cut into pieces that gRPC
 * takes.
 *
 * A piece is a byte, 1 for the last of a message and 0 for others, and the piece's bytes.
 *
 * Locks: the end's own is taken before a peer's; gRPC's callbacks take a peer's, or, when the peer is over,
 * the end's alone.
 */
#include "grpc_end.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <ctime>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <grpc/grpc.h>
#include <grpc/support/time.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

namespace
{

using Clock = std::chrono::steady_clock;

constexpr size_t piece_bytes = size_t{1} << 18; /* a peer that the host does not know costs no more */
constexpr size_t largest = size_t{1} << 31;
const char *const method = "/dpframe.link.v1/Carry";

struct Event {
    int32_t kind = DPF_LINK_NOTHING;
    int64_t peer = 0;
    std::string bytes, name;
};

/* What has happened, for the host's thread. */
class Inbox
{
  public:
    void push(Event event)
    {
        std::lock_guard<std::mutex> hold(lock_);
        events_.push_back(std::move(event));
        changed_.notify_one();
    }

    Event pop(Clock::time_point until)
    {
        std::unique_lock<std::mutex> hold(lock_);
        changed_.wait_until(hold, until, [this] { return !events_.empty(); });
        if (events_.empty())
            return Event();
        Event event = std::move(events_.front());
        events_.pop_front();
        return event;
    }

  private:
    std::mutex lock_;
    std::condition_variable changed_;
    std::deque<Event> events_;
};

/* One stream, seen from either end. */
class Peer
{
  public:
    Peer(int64_t number, Inbox *inbox, size_t largest_in)
        : number_(number), inbox_(inbox), largest_in_(largest_in)
    {
    }
    virtual ~Peer() = default;

    /* The slices are counted references: several peers send the same bytes. */
    void send(const std::vector<grpc::Slice> &pieces)
    {
        std::lock_guard<std::recursive_mutex> hold(lock_);
        if (over_ || closing_)
            return;
        out_.insert(out_.end(), pieces.begin(), pieces.end());
        pump();
    }

    void admit(size_t largest_in)
    {
        std::lock_guard<std::recursive_mutex> hold(lock_);
        largest_in_ = largest_in;
    }

    /* The message that waited has been received. */
    void go_on()
    {
        std::lock_guard<std::recursive_mutex> hold(lock_);
        if (!waiting_)
            return;
        waiting_ = false;
        if (!over_)
            start_read(&in_piece_);
    }

    /* Ends once everything has left, or, see overdue, a second later. */
    void hang_up()
    {
        std::lock_guard<std::recursive_mutex> hold(lock_);
        if (closing_)
            return;
        closing_ = true;
        until_ = Clock::now() + std::chrono::seconds(1);
        go_on(); /* what comes is thrown away */
        pump();
    }

    void cancel_if_overdue(Clock::time_point now)
    {
        std::lock_guard<std::recursive_mutex> hold(lock_);
        if (closing_ && now >= until_)
            cancel();
    }

    int64_t number() const
    {
        return number_;
    }

  protected:
    /* It has been ended by the other end, or by gRPC. */
    void is_over()
    {
        over_ = true;
        if (!closing_)
            until_ = Clock::now() + std::chrono::seconds(1);
        closing_ = true;
    }

    /* Of the stream; the lock is held. */
    virtual void start_write(const grpc::ByteBuffer *bytes) = 0;
    virtual void start_read(grpc::ByteBuffer *bytes) = 0;
    virtual void start_end() = 0; /* nothing more is sent */
    virtual void cancel() = 0;

    void begin()
    {
        std::lock_guard<std::recursive_mutex> hold(lock_);
        start_read(&in_piece_);
    }

    void written(bool ok)
    {
        std::lock_guard<std::recursive_mutex> hold(lock_);
        writing_ = false;
        out_.pop_front();
        if (!ok) {
            is_over();
            out_.clear();
        }
        pump();
    }

    /* ok is false at the end of what the other end sends. */
    void read(bool ok)
    {
        std::lock_guard<std::recursive_mutex> hold(lock_);
        if (ok && take_piece()) {
            if (!waiting_)
                start_read(&in_piece_);
            return;
        }
        is_over();
        if (ok)
            cancel(); /* it sends no messages of ours */
        if (!writing_)
            out_.clear();
        pump();
    }

    std::recursive_mutex lock_;

  private:
    void pump()
    {
        if (writing_)
            return;
        if (!out_.empty() && !over_) {
            writing_ = true;
            out_piece_ = grpc::ByteBuffer(&out_.front(), 1);
            start_write(&out_piece_);
        } else if (closing_ && !ended_) {
            ended_ = true;
            start_end();
        }
    }

    bool take_piece()
    {
        std::vector<grpc::Slice> slices;
        if (!in_piece_.Dump(&slices).ok())
            return false;
        std::string piece;
        for (const grpc::Slice &slice : slices)
            piece.append(reinterpret_cast<const char *>(slice.begin()), slice.size());
        in_piece_.Clear();
        if (piece.empty() || (piece[0] != '\0' && piece[0] != '\1') ||
            in_.size() + piece.size() - 1 > largest_in_)
            return false;
        in_.append(piece, 1, std::string::npos);
        if (piece[0] == '\0')
            return true;
        Event event;
        event.kind = DPF_LINK_MESSAGE;
        event.peer = number_;
        event.bytes.swap(in_);
        if (!closing_) {
            waiting_ = true;
            inbox_->push(std::move(event));
        }
        return true;
    }

    const int64_t number_;
    Inbox *const inbox_;
    std::deque<grpc::Slice> out_;
    size_t largest_in_;
    grpc::ByteBuffer out_piece_, in_piece_;
    std::string in_;
    bool writing_ = false, closing_ = false, ended_ = false, over_ = false;
    bool waiting_ = false; /* a message is in the inbox, and nothing is read before it has been received */
    Clock::time_point until_;
};

class ServerPeer;
class ClientPeer;

} // namespace

struct grpc_end {
    Inbox inbox;
    Event current; /* that the last receive has pointed to */
    std::mutex lock;
    std::condition_variable changed;
    std::map<int64_t, Peer *> peers;
    int64_t next_number = 0, dying = 0;
    std::unique_ptr<grpc::CallbackGenericService> service;
    std::unique_ptr<grpc::Server> server;
    std::shared_ptr<grpc::Channel> channel;

    void add(Peer *peer)
    {
        peers[peer->number()] = peer;
    }

    /* The last thing that happens to a peer: nobody finds it any more, it goes, and then it is gone. Who
     * closes the end waits for the latter, since what gRPC has for the peer goes with it. */
    void remove(Peer *peer, const std::string &why)
    {
        Event event;
        event.kind = DPF_LINK_CLOSED;
        event.peer = peer->number();
        event.name = why;
        {
            std::lock_guard<std::mutex> hold(lock);
            peers.erase(event.peer);
            dying++;
        }
        delete peer;
        std::lock_guard<std::mutex> hold(lock);
        dying--;
        inbox.push(std::move(event));
        changed.notify_all();
    }

    bool is_empty() const
    {
        return peers.empty() && dying == 0;
    }

    void go_on(int64_t number)
    {
        std::lock_guard<std::mutex> hold(lock);
        const auto at = peers.find(number);
        if (at != peers.end())
            at->second->go_on();
    }

    void cancel_overdue()
    {
        std::lock_guard<std::mutex> hold(lock);
        for (auto &entry : peers)
            entry.second->cancel_if_overdue(Clock::now());
    }
};

namespace
{

class ServerPeer final : public grpc::ServerGenericBidiReactor, public Peer
{
  public:
    ServerPeer(grpc_end *end, int64_t number, grpc::GenericCallbackServerContext *context)
        : Peer(number, &end->inbox, DPF_LINK_FIRST), end_(end), context_(context)
    {
    }
    void start()
    {
        begin();
    }

    void OnReadDone(bool ok) override
    {
        read(ok);
    }
    void OnWriteDone(bool ok) override
    {
        written(ok);
    }
    void OnDone() override
    {
        end_->remove(this, "");
    }

  protected:
    void start_write(const grpc::ByteBuffer *bytes) override
    {
        StartWrite(bytes);
    }
    void start_read(grpc::ByteBuffer *bytes) override
    {
        StartRead(bytes);
    }
    void start_end() override
    {
        Finish(grpc::Status::OK);
    }
    void cancel() override
    {
        context_->TryCancel();
    }

  private:
    grpc_end *const end_;
    grpc::GenericCallbackServerContext *const context_;
};

class ClientPeer final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>, public Peer
{
  public:
    explicit ClientPeer(grpc_end *end)
        : Peer(DPF_LINK_SERVER, &end->inbox, largest), end_(end), stub_(end->channel)
    {
    }

    void start()
    {
        stub_.PrepareBidiStreamingCall(&context_, method, grpc::StubOptions(), this);
        AddHold(); /* writes are started by the host's thread */
        begin();
        StartCall();
    }

    void OnReadDone(bool ok) override
    {
        read(ok);
    }
    void OnWriteDone(bool ok) override
    {
        written(ok);
    }
    void OnDone(const grpc::Status &status) override
    {
        end_->remove(this, status.ok() ? "" : status.error_message());
    }

  protected:
    void start_write(const grpc::ByteBuffer *bytes) override
    {
        StartWrite(bytes);
    }
    void start_read(grpc::ByteBuffer *bytes) override
    {
        StartRead(bytes);
    }
    void start_end() override
    {
        StartWritesDone();
        RemoveHold();
    }
    void cancel() override
    {
        context_.TryCancel();
    }

  private:
    grpc_end *const end_;
    grpc::GenericStub stub_;
    grpc::ClientContext context_;
};

/* Refuses calls of other methods. */
class Refusal final : public grpc::ServerGenericBidiReactor
{
  public:
    Refusal()
    {
        Finish(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, ""));
    }
    void OnDone() override
    {
        delete this;
    }
};

/* Who the certificate is for: its common name. gRPC has checked it against the authority. */
std::string name_of(const grpc::GenericCallbackServerContext *context)
{
    const auto names = context->auth_context()->FindPropertyValues("x509_common_name");
    return names.size() == 1 ? std::string(names[0].data(), names[0].size()) : std::string();
}

class Service final : public grpc::CallbackGenericService
{
  public:
    explicit Service(grpc_end *end) : end_(end)
    {
    }

    grpc::ServerGenericBidiReactor *CreateReactor(grpc::GenericCallbackServerContext *context) override
    {
        try {
            const std::string name = name_of(context);
            if (context->method() != method || name.empty())
                return new Refusal;
            ServerPeer *peer;
            {
                std::lock_guard<std::mutex> hold(end_->lock);
                peer = new ServerPeer(end_, end_->next_number++, context);
                end_->add(peer);
                Event event;
                event.kind = DPF_LINK_OPENED;
                event.peer = peer->number();
                event.name = name;
                end_->inbox.push(std::move(event));
            }
            peer->start();
            return peer;
        } catch (...) {
            return new Refusal;
        }
    }

  private:
    grpc_end *const end_;
};

void explain(char why[GRPC_END_WHY], const char *format, const char *address)
{
    std::snprintf(why, GRPC_END_WHY, format, address);
}

/* So many seconds from now, whoever sets the clock in the meantime. */
gpr_timespec monotonic(double seconds)
{
    return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                        gpr_time_from_millis(static_cast<int64_t>(seconds * 1000), GPR_TIMESPAN));
}

std::string clock_text()
{
    char text[32];
    const std::time_t now = std::time(nullptr);
    std::tm split;
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", gmtime_r(&now, &split));
    return text;
}

std::string time_text(const ASN1_TIME *time)
{
    std::tm split;
    char text[32];
    if (ASN1_TIME_to_tm(time, &split) != 1)
        return "an unknown time";
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &split);
    return text;
}

/* gRPC checks dates, too, but says no more than that there is no connection. */
bool dates_are_right(const grpc_end_setup *setup, char why[GRPC_END_WHY])
{
    const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new_mem_buf(setup->chain, -1), BIO_free);
    const std::unique_ptr<X509, decltype(&X509_free)> own(
        bio ? PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr) : nullptr, X509_free);
    if (!own) {
        explain(why, "the certificate of this end of %.150s is no PEM certificate", setup->address);
        return false;
    }
    const ASN1_TIME *begin = X509_get0_notBefore(own.get()), *end = X509_get0_notAfter(own.get());
    if (X509_cmp_current_time(begin) < 0 && X509_cmp_current_time(end) > 0)
        return true;
    std::snprintf(
        why, GRPC_END_WHY,
        "this end's certificate is for the time from %s to %s, and the clock here says %s: renew the "
        "certificate, or set the clock",
        time_text(begin).c_str(), time_text(end).c_str(), clock_text().c_str());
    return false;
}

bool serve(grpc_end *end, const grpc_end_setup *setup, char why[GRPC_END_WHY])
{
    grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    options.pem_root_certs = setup->ca;
    options.pem_key_cert_pairs.push_back({setup->key, setup->chain});
    end->service.reset(new Service(end));
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(setup->address, grpc::SslServerCredentials(options), &port);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    /* A connection that died without a word is noticed within 10 s. */
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 5000);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5000);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5000);
    /* What nobody has vouched for yet. */
    builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10000);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 2);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, static_cast<int>(piece_bytes));
    builder.SetMaxReceiveMessageSize(static_cast<int>(piece_bytes) + 1);
    builder.RegisterCallbackGenericService(end->service.get());
    end->server = builder.BuildAndStart();
    if (end->server && port != 0)
        return true;
    explain(why, "cannot listen at %.200s: another process does, or key and certificate do not fit",
            setup->address);
    return false;
}

bool join(grpc_end *end, const grpc_end_setup *setup, char why[GRPC_END_WHY])
{
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = setup->ca;
    options.pem_private_key = setup->key;
    options.pem_cert_chain = setup->chain;
    grpc::ChannelArguments arguments;
    if (*setup->server_name)
        arguments.SetSslTargetNameOverride(setup->server_name);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 10000);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10000);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    end->channel = grpc::CreateCustomChannel(setup->address, grpc::SslCredentials(options), arguments);
    if (!end->channel->WaitForConnected(monotonic(setup->patience))) {
        std::snprintf(
            why, GRPC_END_WHY,
            "nobody serves at %.100s, or one of the certificates is not accepted: of another authority, for "
            "another name, or expired (the clock here says %s)",
            setup->address, clock_text().c_str());
        return false;
    }
    ClientPeer *peer = new ClientPeer(end);
    {
        std::lock_guard<std::mutex> hold(end->lock);
        end->add(peer);
    }
    peer->start();
    return true;
}

struct grpc_end *open_end(const struct grpc_end_setup *setup, char why[GRPC_END_WHY])
{
    try {
        grpc_init(); /* until close */
        std::unique_ptr<grpc_end> end(new grpc_end);
        if (!dates_are_right(setup, why)) {
            grpc_shutdown_blocking();
            return nullptr;
        }
        if (setup->serves ? serve(end.get(), setup, why) : join(end.get(), setup, why))
            return end.release();
    } catch (const std::exception &problem) {
        explain(why, "gRPC cannot be started: %.200s", problem.what());
    } catch (...) {
        explain(why, "gRPC cannot be started at %.200s", setup->address);
    }
    grpc_shutdown_blocking();
    return nullptr;
}

/* Cut into pieces that gRPC takes. */
std::vector<grpc::Slice> pieces_of(const uint8_t *bytes, size_t n)
{
    std::vector<grpc::Slice> pieces;
    size_t at = 0;
    do {
        const size_t piece = n - at < piece_bytes ? n - at : piece_bytes;
        std::string out(1, at + piece == n ? '\1' : '\0');
        out.append(reinterpret_cast<const char *>(bytes) + at, piece);
        pieces.emplace_back(out);
        at += piece;
    } while (at < n);
    return pieces;
}

int share(struct grpc_end *end, const int64_t *numbers, int64_t n, const uint8_t *bytes, uint64_t n_bytes)
{
    try {
        const std::vector<grpc::Slice> pieces = pieces_of(bytes, static_cast<size_t>(n_bytes));
        std::lock_guard<std::mutex> hold(end->lock);
        for (int64_t i = 0; i < n; i++) {
            const auto at = end->peers.find(numbers[i]);
            if (at != end->peers.end())
                at->second->send(pieces);
        }
        return 0;
    } catch (...) {
        return -1;
    }
}

void admit(struct grpc_end *end, int64_t number, uint64_t largest_in)
{
    try {
        std::lock_guard<std::mutex> hold(end->lock);
        const auto at = end->peers.find(number);
        if (at != end->peers.end())
            at->second->admit(static_cast<size_t>(largest_in));
    } catch (...) {
    }
}

int receive(struct grpc_end *end, double seconds, dpf_link_event *out)
{
    try {
        const auto until = Clock::now() + std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6));
        end->cancel_overdue();
        end->current = end->inbox.pop(until);
        if (end->current.kind == DPF_LINK_MESSAGE)
            end->go_on(end->current.peer);
        out->kind = end->current.kind;
        out->peer = end->current.peer;
        out->bytes = reinterpret_cast<const uint8_t *>(end->current.bytes.data());
        out->n_bytes = end->current.bytes.size();
        out->name = end->current.name.c_str();
        return 0;
    } catch (...) {
        return -1;
    }
}

void hang_up(struct grpc_end *end, int64_t number)
{
    try {
        std::lock_guard<std::mutex> hold(end->lock);
        const auto at = end->peers.find(number);
        if (at != end->peers.end())
            at->second->hang_up();
    } catch (...) {
    }
}

void close_end(struct grpc_end *end)
{
    try {
        {
            std::unique_lock<std::mutex> hold(end->lock);
            for (auto &entry : end->peers)
                entry.second->hang_up();
            end->changed.wait_for(hold, std::chrono::milliseconds(1100), [end] { return end->is_empty(); });
        }
        end->cancel_overdue();
        if (end->server) {
            end->server->Shutdown(monotonic(1));
            end->server->Wait();
        }
        {
            std::unique_lock<std::mutex> hold(end->lock);
            end->changed.wait(hold, [end] { return end->is_empty(); });
        }
        delete end;
        /* All of gRPC's threads are over then: one that is left would meet a process that takes itself apart.
         */
        grpc_shutdown_blocking();
    } catch (...) {
    }
}

} // namespace

const struct grpc_end_functions dpframe_grpc_end_2 = {open_end, share, admit, receive, hang_up, close_end};
