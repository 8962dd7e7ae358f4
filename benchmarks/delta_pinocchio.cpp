/* The closed loop of the Delta robot with Pinocchio: constraintDynamics, a linear law and an observer, in a loop of C++.
 * The robot is that of delta.py; data, q and v are allocated once, and one proximal iteration with mu = 0 is made. */
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>

namespace pin = pinocchio;
typedef Eigen::Matrix<double, 3, 1> V3;
typedef Eigen::Matrix<double, 6, 1> V6;

static pin::Model model;
static pin::Data data;
static PINOCCHIO_STD_VECTOR_WITH_EIGEN_ALLOCATOR(pin::RigidConstraintModel) loops;
static PINOCCHIO_STD_VECTOR_WITH_EIGEN_ALLOCATOR(pin::RigidConstraintData) loop_data;
static pin::ProximalSettings settings(1e-12, 0.0, 1);
static Eigen::VectorXd q, v, tau;
static Eigen::Matrix<double, 6, 6, Eigen::RowMajor> A;
static Eigen::Matrix<double, 6, 3, Eigen::RowMajor> B, L;
static Eigen::Matrix<double, 3, 6, Eigen::RowMajor> K;
static V3 rest_u, rest_y;
static V6 xi = V6::Zero(), rate;

static pin::SE3 placed(const Eigen::Matrix3d &R, const V3 &p) { return pin::SE3(R, p); }

extern "C" {

/* DATA, the state, and ξ' = A ξ + B (u - rest_u) + L (y - rest_y), u = rest_u + K ξ. */
void prepare(const double *d, const double *q_, const double *v_, const double *A_, const double *B_, const double *L_,
             const double *K_, const double *rest_u_, const double *rest_y_)
{
    const double r0 = d[0], r3 = d[1], l1 = d[2], l2 = d[3], I_A = d[4], S_A = d[5], I_g = d[6], m_f = d[7], J_f = d[8],
                 m_p = d[9], g = d[10], mass = 4.0;
    const Eigen::Matrix3d one = Eigen::Matrix3d::Identity();
    const pin::Inertia arm(mass, V3(S_A / mass, 0, 0), V3(0, I_A - S_A * S_A / mass, 0).asDiagonal().toDenseMatrix());
    const pin::Inertia rod(m_f, V3(l2 / 2, 0, 0), V3(0, J_f, J_f).asDiagonal().toDenseMatrix());
    pin::JointIndex leans[3];
    Eigen::Matrix3d turns[3];
    model.gravity.linear() = V3(0, 0, -g);
    for (int i = 0; i < 3; ++i) {
        turns[i] = Eigen::AngleAxisd(2 * M_PI * i / 3, V3::UnitZ()).toRotationMatrix();
        const std::string k = std::to_string(i);
        const auto joint = model.addJoint(0, pin::JointModelRY(), placed(turns[i], turns[i] * V3(r0, 0, 0)), "arm" + k);
        model.appendBodyToJoint(joint, arm, pin::SE3::Identity());
        const auto swing = model.addJoint(joint, pin::JointModelRY(), placed(one, V3(l1, 0, 0)), "swing" + k);
        leans[i] = model.addJoint(swing, pin::JointModelRZ(), pin::SE3::Identity(), "lean" + k);
        model.appendBodyToJoint(leans[i], rod, pin::SE3::Identity());
    }
    const auto plate = model.addJoint(0, pin::JointModelTranslation(), pin::SE3::Identity(), "platform");
    model.appendBodyToJoint(plate, pin::Inertia(m_p, V3::Zero(), Eigen::Matrix3d::Zero()), pin::SE3::Identity());
    model.armature.setZero();
    for (int i = 0; i < 3; ++i) model.armature[3 * i] = I_g;
    for (int i = 0; i < 3; ++i)
        loops.emplace_back(pin::CONTACT_3D, model, leans[i], placed(one, V3(l2, 0, 0)), plate,
                           placed(one, turns[i] * V3(r3, 0, 0)), pin::LOCAL);
    data = pin::Data(model);
    for (const auto &loop : loops) loop_data.emplace_back(loop.createData());
    pin::initConstraintDynamics(model, data, loops, loop_data);
    q = Eigen::Map<const Eigen::VectorXd>(q_, model.nq);
    v = Eigen::Map<const Eigen::VectorXd>(v_, model.nv);
    tau = Eigen::VectorXd::Zero(model.nv);
    A = Eigen::Map<const decltype(A)>(A_);
    B = Eigen::Map<const decltype(B)>(B_);
    L = Eigen::Map<const decltype(L)>(L_);
    K = Eigen::Map<const decltype(K)>(K_);
    rest_u = V3(rest_u_);
    rest_y = V3(rest_y_);
}

static const Eigen::VectorXd &evaluated()
{
    const V3 y = V3(q[0], q[3], q[6]) - rest_y, u = K * xi;
    rate.noalias() = A * xi + B * u + L * y;
    for (int k = 0; k < 3; ++k) tau[3 * k] = rest_u[k] + u[k];
    return pin::constraintDynamics(model, data, q, v, tau, loops, loop_data, settings);
}

/* Accelerations of the joints and rates of the estimate for a given estimate. */
void rates(const double *estimate, double *a, double *dxi)
{
    xi = V6(estimate);
    Eigen::Map<Eigen::VectorXd>(a, model.nv) = evaluated();
    Eigen::Map<V6>(dxi, 6) = rate;
}

/* n evaluations of the dynamics with torques that do not change. */
double dynamics(int n)
{
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        q[0] += 1e-12;
        sum += pin::constraintDynamics(model, data, q, v, tau, loops, loop_data, settings)[0];
    }
    return sum;
}

/* n evaluations of dynamics, law and observer. */
double closed(int n)
{
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        q[0] += 1e-12;
        sum += evaluated()[0] + rate[0];
    }
    return sum;
}
}
